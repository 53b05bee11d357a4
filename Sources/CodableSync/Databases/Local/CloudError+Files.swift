/// Errors of the files of a cloud.
extension CloudError {
    /// Converts an error of a cloud's files.
    ///
    /// - Parameter error: The error.
    init(ofFiles error: any Error) {
        switch error {
        case let error as CloudError:
            self = error
        // Only the user can free space.
        case let error as FileError where error.isOutOfSpace:
            self.init(.quotaExceeded, message: error.message)
        case let error as FileError where error.isOfThePath:
            self.init(.badDatabase, message: error.message)
        case let error as LogError:
            self.init(Self.code(of: error), message: error.message(.cloud))
        // A volume that is missing or locked may become available again.
        default:
            self.init(.serviceUnavailable, message: "\(error)")
        }
    }

    private static func code(of error: LogError) -> Code {
        switch error {
        case .tooNew: .incompatibleVersion
        // Every request would fail until a person has repaired the files.
        case .tooOld, .damaged, .noNumberLeft, .tooLarge, .otherFormat: .badDatabase
        case .replaced, .unusableLine, .closed, .unknownPosition: .serviceUnavailable
        }
    }

    /// What a request to a closed directory throws.
    static var directoryClosed: CloudError {
        CloudError(.badDatabase, message: "The directory was closed. Make a new connection.")
    }
}

extension LogAdvice {
    /// The advice for a cloud's files: the devices can upload its contents again.
    static let cloud = LogAdvice(
        damaged: CloudLedger.adviceToReplace,
        unusable: CloudLedger.adviceToReplace,
        tooOld: "Move its journal and snapshot files away, but not cloud.json, to start with an empty cloud; "
            + "devices upload again what they have."
    )
}
