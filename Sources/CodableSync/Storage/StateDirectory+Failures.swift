/// What the parts below say, in the directory's words.
extension StateDirectory.Failure {
    /// Makes a failure of an error that came up while a directory was opened.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - directory: The directory, for errors that do not say where they are from.
    init(_ error: any Error, in directory: String) {
        switch error {
        case let failure as StateDirectory.Failure: self = failure
        case let error as FileError where error.isOutOfSpace: self = .full(error.message)
        case let error as FileError: self = .unreadable(error.message)
        case LogError.tooNew: self = .tooNew("\(error)")
        case is LogError: self = .unreadable("\(error)")
        case is NewerEntry: self = .tooNew("\(error)")
        default: self = .unreadable("\"\(directory.shortenedForMessage)\": \(error)")
        }
    }
}
