import Foundation
import RecordCoding

extension ChangeToken: CustomStringConvertible {
    /// A short hash of the token's bytes, to distinguish tokens in a log.
    public var description: String {
        let hash = String(UInt32(truncatingIfNeeded: StableHash.of(data.base64EncodedString())), radix: 16)
        return "change token \(hash)"
    }
}

extension DatabaseLimits: CustomStringConvertible {
    /// The limits in words, sizes in bytes.
    public var description: String {
        """
        requests of \(maximumItems.counted("record")) and \(maximumBytes.counted("byte")), \
        records of \(maximumRecordBytes.counted("byte")), pages of \(maximumPageSize.counted("record"))
        """
    }
}

extension RecordZone: CustomStringConvertible {
    /// The zone's name: `zone "Note"`.
    public var description: String { "zone \(zoneID)" }
}

extension CloudSubscription: CustomStringConvertible {
    /// The subscription's name and scope: `subscription "codablesync-Note" to zone "Note"`.
    public var description: String { "subscription \(subscriptionID.quoted) to \(kind)" }
}

extension CloudSubscription.Kind: CustomStringConvertible {
    /// The scope in words: `the database` or `zone "Note"`.
    public var description: String {
        switch self {
        case .database: "the database"
        case .zone(let zoneID): "zone \(zoneID)"
        }
    }
}

extension ModifyResults: CustomStringConvertible {
    /// The counts, without zeros: `2 saved, 1 not saved, 1 deleted`; it contains no fields.
    public var description: String {
        let saved = saveResults.values.count(where: \.didSucceed)
        let deleted = deleteResults.values.count(where: { $0 == nil })
        let parts = [
            (saved, "saved"), (saveResults.count - saved, "not saved"), (deleted, "deleted"),
            (deleteResults.count - deleted, "not deleted"),
        ]
        let words = parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return words.isEmpty ? "no results" : words.joined(separator: ", ")
    }
}

extension Result {
    /// Whether it is a success.
    var didSucceed: Bool { if case .success = self { true } else { false } }
}
