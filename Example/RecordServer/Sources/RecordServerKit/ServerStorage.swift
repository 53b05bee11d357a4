@_spi(Server) public import CodableSync
import Foundation

/// What a server keeps: a ledger, and the key of its tokens.
public struct ServerStorage: Sendable {
    /// The ledger.
    @_spi(Server) public let ledger: any LedgerStorage
    /// The key of the server's tokens.
    public let key: [UInt8]

    private static let keyLength = 32

    /// Keeps everything in memory, so that nothing is left after the server ends, not even its tokens.
    public static func memory() -> ServerStorage {
        let key = newKey()
        let identifier = String(UInt64.random(in: 0 ... .max), radix: 36)
        let ledger = CloudLedger(identifier: identifier, options: .webServices)
        return ServerStorage(ledger: LedgerMemory(ledger), key: key)
    }

    /// Keeps the ledger in the folder `cloud` of a directory, and the key in the file `key`, which only the owner may
    /// read.
    ///
    /// - Parameter path: The directory, which is created if it is missing.
    /// - Returns: The storage.
    /// - Throws: ``ServerError`` if the directory can't be made, or the key can't be used.
    public static func directory(_ path: String) throws(ServerError) -> ServerStorage {
        do {
            try FileManager.default.createDirectory(
                atPath: path,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw ServerError("Can't create \(path): \(error.localizedDescription)")
        }
        let key = try SecretFile.read("\(path)/key", orCreateWith: newKey)
        guard key.count == keyLength else {
            throw ServerError("\(path)/key is not the key of a record server.")
        }
        return ServerStorage(ledger: LedgerDirectory(path: "\(path)/cloud", options: .webServices), key: key)
    }

    private static func newKey() -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<keyLength).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }
}
