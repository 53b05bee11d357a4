/// Converting errors of files and logs into failures of the directory.
extension StateDirectory.Failure {
    /// Creates a failure from an error while a directory was opened.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - directory: The directory, for errors that do not name one.
    init(_ error: any Error, in directory: String) {
        switch error {
        case let failure as StateDirectory.Failure: self = failure
        case let error as FileError where error.isOutOfSpace: self = .full(error.message)
        case let error as FileError: self = .unreadable(error.message)
        case LogError.tooNew: self = .tooNew("\(error)")
        case LogError.tooOld: self = .tooOld((error as? LogError)?.message(.state) ?? "\(error)")
        case let error as LogError: self = .unreadable(error.message(.state))
        case is NewerEntry: self = .tooNew("\(error)")
        default: self = .unreadable("\"\(directory.shortenedForMessage)\": \(error)")
        }
    }
}

extension LogAdvice {
    /// The advice for a state, which contains edits that exist nowhere else.
    static let state = LogAdvice(
        damaged: "Close the engine and open it again; what can be read is kept.",
        unusable:
            "Restore the directory from a backup. Without it, the edits in it that were not sent are lost.",
        tooOld:
            "Send its edits with the version of the app that wrote it, then use another directory or remove this "
            + "one; all records are fetched again."
    )
}

/// Why a compaction of a state failed, for the user.
struct StateCompactionError: Error, CustomStringConvertible {
    var description: String

    init(_ error: any Error) {
        switch error {
        case let error as LogError: description = error.message(.state)
        case let failure as JournalFailure: description = failure.detail
        default: description = "\(error)"
        }
    }
}
