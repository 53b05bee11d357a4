/// Why a log cannot be opened or written, where the disk itself did what it was told.
package enum LogError: Error, Hashable, Sendable {
    /// The file was written by a newer version of the library; nothing was touched.
    case tooNew(path: String, found: UInt64, supported: UInt64)
    /// The file belongs to another program, or to another log; nothing was touched.
    case otherFormat(path: String, expected: String)
    /// The file was removed, replaced or changed by somebody else while it was in use.
    case replaced(path: String)
    /// A line has a newline in it, is empty or too long, or reads like a mark of the log itself.
    case unusableLine
    /// A file of a log that several processes share cannot be trusted; nothing was touched.
    case damaged(path: String, LogDamage)
    /// The log was closed here; nothing was touched.
    case closed(path: String)
    /// The file has the highest number that a file may have, so that no other can come after it.
    case noNumberLeft(path: String)
    /// The file is larger than any that the log writes; nothing was touched.
    case tooLarge(path: String, size: UInt64)
    /// The position is not one of this log, or of files that it no longer has.
    case unknownPosition(LogPosition)
}

extension LogError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tooNew(let path, let found, let supported):
            "\"\(path.shortenedForMessage)\" has format version \(found); this version of the library reads up "
                + "to \(supported). Update the app, or use another directory."
        case .otherFormat(let path, let expected):
            "\"\(path.shortenedForMessage)\" is not a file of \(expected.shortenedForMessage). "
                + "Move it away, or use another directory."
        case .replaced(let path):
            "\"\(path.shortenedForMessage)\" was removed or changed by another program while it was in use. "
                + "Close the directory and open it again."
        case .unusableLine:
            "A line of the log is empty, too long, or has a newline in it. Write one JSON object on one line."
        case .damaged(let path, let damage):
            "\"\(path.shortenedForMessage)\" is damaged at line \(damage.line), byte \(damage.offset): "
                + "\(damage.reason.rawValue). Restore the whole directory from a backup, or move it "
                + "away to begin anew: either way, devices upload again what they know beyond it."
        case .closed(let path):
            "\"\(path.shortenedForMessage)\" is closed. Open the directory again."
        case .noNumberLeft(let path):
            "\"\(path.shortenedForMessage)\" has the highest number that a file may have, so that none can come "
                + "after it. Restore the directory from a backup, or move it away to begin anew."
        case .tooLarge(let path, let size):
            "\"\(path.shortenedForMessage)\" has \(size) bytes; \(LogMarks.maximumFile) are the most that are "
                + "read. Restore the directory from a backup, or move it away to begin anew."
        case .unknownPosition(let position):
            "The log has no line at offset \(position.offset) of file \(position.file). Read its position anew."
        }
    }
}
