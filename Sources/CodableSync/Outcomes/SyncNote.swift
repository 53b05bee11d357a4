import RecordCoding

public import struct Foundation.Date

/// A line of the diagnostics that survives a restart.
public struct SyncNote: Hashable, Sendable, Codable {
    /// The kinds of notes.
    public enum Kind: String, Hashable, Sendable, Codable {
        /// A value of this device was given up.
        case discarded
        /// A change was set aside.
        case parked
        /// The state was damaged and has been recovered.
        case recovered
        /// The zone is gone.
        case zoneLost
    }

    /// The kind of note.
    public var kind: Kind
    /// When it happened, by this device's clock.
    public var date: Date
    /// The record it is about, if it is about one.
    public var recordName: String?
    /// What happened, in words.
    public var message: String

    /// Makes a note.
    ///
    /// - Parameters:
    ///   - kind: The kind of note.
    ///   - date: When it happened.
    ///   - recordName: The record it is about.
    ///   - message: What happened, in words.
    public init(kind: Kind, date: Date, recordName: String? = nil, message: String) {
        self.kind = kind
        self.date = date
        self.recordName = recordName
        self.message = message
    }
}

extension SyncNote: CustomStringConvertible {
    /// The note in one line: when, what, the record's name and the words.
    public var description: String {
        let name = recordName.map { " \($0.quoted)" } ?? ""
        return "\(date) \(kind.rawValue)\(name): \(message)"
    }
}
