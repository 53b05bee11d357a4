/// Why a log cannot be opened or written although the disk works.
package enum LogError: Error, Hashable, Sendable {
    /// The file was written by a newer version of the library; nothing was changed.
    case tooNew(path: String, found: UInt64, supported: UInt64)
    /// The file was written by an older version of the library, in a format that is no longer read; nothing
    /// was changed.
    case tooOld(path: String, found: UInt64, oldest: UInt64)
    /// The file belongs to another program or another log; nothing was changed.
    case otherFormat(path: String, expected: String)
    /// Another process removed, replaced or changed the file while it was in use.
    case replaced(path: String)
    /// A line contains a newline, is empty or too long, or looks like one of the log's own marks.
    case unusableLine
    /// A file of a log that several processes share is damaged; nothing was changed.
    case damaged(path: String, LogDamage)
    /// The log was closed; nothing was changed.
    case closed(path: String)
    /// The file has the highest possible number, so there can be no file after it.
    case noNumberLeft(path: String)
    /// The file is larger than any that the log writes; nothing was changed.
    case tooLarge(path: String, size: UInt64)
    /// The position is not in this log, or in a file that it no longer has.
    case unknownPosition(LogPosition)
}

/// Advice from a log's owner about unusable files, in one or more sentences.
package struct LogAdvice: Sendable {
    /// For ``LogError/damaged(path:_:)``.
    package var damaged: String
    /// For ``LogError/noNumberLeft(path:)`` and ``LogError/tooLarge(path:size:)``.
    package var unusable: String
    /// For ``LogError/tooOld(path:found:oldest:)``.
    package var tooOld: String

    package init(damaged: String, unusable: String, tooOld: String) {
        self.damaged = damaged
        self.unusable = unusable
        self.tooOld = tooOld
    }
}

extension LogError: CustomStringConvertible {
    /// What happened, and what to do if that is the same for every owner.
    package var description: String {
        switch self {
        case .tooNew(let path, let found, let supported):
            "\"\(path.shortenedForMessage)\" has format version \(found); this version of the library reads up "
                + "to \(supported). Update the app, or use another directory."
        case .tooOld(let path, let found, let oldest):
            "\"\(path.shortenedForMessage)\" has format version \(found), which an older version of the library "
                + "wrote; this version reads from \(oldest) on."
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

    /// What happened, with the owner's advice.
    package func message(_ advice: LogAdvice) -> String {
        switch self {
        case .damaged: "\(self) \(advice.damaged)"
        case .noNumberLeft, .tooLarge: "\(self) \(advice.unusable)"
        case .tooOld: "\(self) \(advice.tooOld)"
        case .tooNew, .otherFormat, .replaced, .unusableLine, .closed, .unknownPosition: "\(self)"
        }
    }
}

extension LogDamage {
    /// Where the damaged part starts; the line is not always known.
    fileprivate var place: String { line > 0 ? "line \(line), byte \(offset)" : "byte \(offset)" }
}
