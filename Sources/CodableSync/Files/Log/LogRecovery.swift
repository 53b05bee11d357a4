/// The findings of opening a log.
package struct LogRecovery: Hashable, Sendable {
    /// The number of bytes at the end of the last journal that belong to no committed group, because of a
    /// crash.
    package var droppedTailBytes: UInt64 = 0
    /// All other damage, in the order of the files.
    package var damages: [LogDamage] = []
    /// The number of visited lines.
    package var visitedLines = 0
    /// The lowest version in a file's header; `nil` in a new directory.
    package var oldestVersion: UInt64?

    package init() {}

    /// Whether committed lines may be missing, so that data must be fetched again.
    ///
    /// Damage is reported at each opening until a compaction has replaced the damaged files.
    package var isDamaged: Bool { !damages.isEmpty }
}

/// A damaged part of a log.
package struct LogDamage: Hashable, Sendable {
    /// The file's name.
    package var file: String
    /// The line at which the damaged part starts, counted from 1; 0 if the whole file is damaged.
    package var line: Int
    /// The offset at which the damaged part starts.
    package var offset: UInt64
    /// The kind of damage.
    package var reason: Reason
    /// Details about the damage, if known.
    package var detail: String?
    /// The name of the file's copy; `nil` if there was nothing to copy.
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

        /// Whether an interrupted write may have caused this, if no intact lines follow.
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
            + (copy.map { " The damaged file is kept as \($0)." } ?? "")
    }
}

/// Thrown by a visit for a line with a valid checksum that cannot be interpreted.
///
/// The log reports such a line as damage with its position, copies the file aside, and continues.
package struct UnreadableLine: Error {
    /// What is wrong with the line, without a full stop at the end.
    package var reason: String

    package init(_ reason: String) {
        self.reason = reason
    }
}
