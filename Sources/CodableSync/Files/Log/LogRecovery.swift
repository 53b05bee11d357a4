/// What opening a log found.
package struct LogRecovery: Hashable, Sendable {
    /// Bytes at the end of the last journal that belong to no committed group: what a crash cut off.
    package var droppedTailBytes: UInt64 = 0
    /// Everything else that was not as it should be, in the order of the files.
    package var damages: [LogDamage] = []
    /// How many lines were visited.
    package var visitedLines = 0
    /// The lowest version that a file's header names; `nil` in a new directory.
    package var oldestVersion: UInt64?

    package init() {}

    /// Whether anything that had been committed may be missing, so that it must be fetched again.
    ///
    /// It is said at each opening until a compaction has replaced the damaged files.
    package var isDamaged: Bool { !damages.isEmpty }
}

/// A part of a log that cannot be trusted.
package struct LogDamage: Hashable, Sendable {
    /// The file's name.
    package var file: String
    /// The line at which the damaged part begins, counted from 1; 0 where it is the file as a whole.
    package var line: Int
    /// Where in the file the damaged part begins.
    package var offset: UInt64
    /// What is wrong with it.
    package var reason: Reason
    /// What exactly is wrong, where more is known than the reason says.
    package var detail: String?
    /// The name of the copy that was put aside; `nil` if there was nothing to copy.
    package var copy: String?

    package enum Reason: String, Hashable, Sendable {
        case empty = "the file is empty"
        case missing = "the file is missing"
        case header = "the first line is not a header"
        case foreign = "the file is not one of this log"
        case replaced = "a snapshot that is damaged itself has replaced the file"
        case checksum = "the checksum does not hold"
        case endOfLine = "a line does not end where it should"
        case lineTooLong = "a line is too long"
        case cutOff = "the end is missing"
        case unwritten = "a part was never written"
        case contents = "a line is whole and cannot be used"

        /// Whether an interrupted write leaves this behind, where nothing intact comes after it.
        var isOfTornWrite: Bool { self == .cutOff || self == .unwritten }
    }

    package init(
        file: String,
        line: Int,
        offset: UInt64,
        reason: Reason,
        detail: String? = nil,
        copy: String? = nil
    ) {
        self.file = file
        self.line = line
        self.offset = offset
        self.reason = reason
        self.detail = detail
        self.copy = copy
    }
}

extension LogDamage: CustomStringConvertible {
    package var description: String {
        "\(file):\(line) (byte \(offset)): \(reason.rawValue)" + (detail.map { ": \($0)." } ?? ".")
            + (copy.map { " The file as it was is kept as \($0)." } ?? "")
    }
}

/// Thrown by the visit of a line whose checksum holds, and which says nothing that can be used.
///
/// Such a line is damage of its own: the log reports it with its place, keeps the file aside, and goes on.
package struct UnreadableLine: Error {
    /// What is wrong with it, without a point at the end.
    package var reason: String

    package init(_ reason: String) {
        self.reason = reason
    }
}
