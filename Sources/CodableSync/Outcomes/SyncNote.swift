import RecordCoding

public import struct Foundation.Date

/// A note in the diagnostics that survives a restart.
public struct SyncNote: Hashable, Sendable, Codable {
    /// The kinds of notes.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Kind: String, Hashable, Sendable, Codable {
        /// A version of a record was discarded.
        case discarded
        /// A change was parked.
        case parked
        /// The state was damaged and has been recovered.
        case recovered
        /// The zone was lost.
        case zoneLost
    }

    /// The kind of note.
    public var kind: Kind
    /// When it happened, by this device's clock.
    public var date: Date
    /// The name of the record that the note is about, if any.
    public var recordName: String?
    /// What happened.
    public var message: String

    /// Creates a note.
    ///
    /// - Parameters:
    ///   - kind: The kind of note.
    ///   - date: When it happened.
    ///   - recordName: The name of the record that the note is about.
    ///   - message: What happened.
    package init(kind: Kind, date: Date, recordName: String? = nil, message: String) {
        self.kind = kind
        self.date = date
        self.recordName = recordName
        self.message = message
    }
}

extension SyncNote: CustomStringConvertible {
    /// The note in one line: the date, the kind, the record's name and the message.
    public var description: String {
        let name = recordName.map { " \($0.quoted)" } ?? ""
        return "\(date.text) \(kind.rawValue)\(name): \(message)"
    }
}
