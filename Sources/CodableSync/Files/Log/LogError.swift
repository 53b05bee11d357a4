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

/// What the owner of a log advises where its files are of no use as they are; each a sentence or more.
package struct LogAdvice: Sendable {
    /// For ``LogError/damaged(path:_:)``.
    package var damaged: String
    /// For ``LogError/noNumberLeft(path:)`` and ``LogError/tooLarge(path:size:)``.
    package var unusable: String

    package init(damaged: String, unusable: String) {
        self.damaged = damaged
        self.unusable = unusable
    }
}

extension LogError: CustomStringConvertible {
    /// What happened, and what to do about it where that is the same for every owner.
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
            "\"\(path.shortenedForMessage)\" is damaged at \(damage.place): \(damage.reason.rawValue)."
        case .closed(let path):
            "\"\(path.shortenedForMessage)\" is closed. Open the directory again."
        case .noNumberLeft(let path):
            "\"\(path.shortenedForMessage)\" has the highest number that a file may have, so that none can come "
                + "after it."
        case .tooLarge(let path, let size):
            "\"\(path.shortenedForMessage)\" has \(size) bytes; the limit is \(LogMarks.maximumFile)."
        case .unknownPosition(let position):
            "The log has no line at offset \(position.offset) of file \(position.file). Read its position anew."
        }
    }

    /// What happened, and what the log's owner advises.
    package func message(_ advice: LogAdvice) -> String {
        switch self {
        case .damaged: "\(self) \(advice.damaged)"
        case .noNumberLeft, .tooLarge: "\(self) \(advice.unusable)"
        case .tooNew, .otherFormat, .replaced, .unusableLine, .closed, .unknownPosition: "\(self)"
        }
    }
}

extension LogDamage {
    /// Where the damaged part begins, in words; a line is not always known.
    fileprivate var place: String { line > 0 ? "line \(line), byte \(offset)" : "byte \(offset)" }
}
