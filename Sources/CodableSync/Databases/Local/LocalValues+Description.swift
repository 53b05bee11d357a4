import Foundation
import RecordCoding

extension LocalDatabase: CustomStringConvertible {
    /// The directory and the user.
    public var description: String {
        let path = directory.path(percentEncoded: false)
        return "local database of \(user.quoted) in \(path.abbreviated(to: 400))"
    }
}

@_spi(Server) extension LedgerDirectory: CustomStringConvertible {
    /// The path of the directory.
    public var description: String { "ledger in \(path.abbreviated(to: 400))" }
}
