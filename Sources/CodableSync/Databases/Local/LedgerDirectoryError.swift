/// Why a ledger's directory could not be used.
@_spi(Server) public struct LedgerDirectoryError: Error, Hashable, Sendable {
    /// The kind of failure.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Code: String, Hashable, Sendable {
        /// A file is damaged; it is left unchanged.
        case damaged
        /// The files were written by a newer version of the library; they are left unchanged.
        case tooNew
        /// The files were written by an older version of the library, in a format that is no longer read; they
        /// are left unchanged.
        case tooOld
        /// The path, or a file in the directory, does not belong to a ledger.
        case notALedger
        /// The disk is full; the request was not performed.
        case outOfSpace
        /// The files cannot be accessed at the moment; the request was not performed.
        case unreachable
        /// Another process held the directory's lock for too long; the request was not performed.
        case locked
        /// The task was cancelled while the request was waiting; the request was not performed.
        case cancelled
        /// Writing failed, so the request may or may not have been performed; repeating it shows which.
        case outcomeUnknown
        /// The directory was closed.
        case closed
    }

    /// The kind of failure.
    public var code: Code
    /// What happened, where, and what to do about it.
    public var message: String

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - message: What happened, where, and what to do about it.
    public init(_ code: Code, message: String) {
        self.code = code
        self.message = message
    }
}

@_spi(Server) extension LedgerDirectoryError: CustomStringConvertible {
    /// The code's name and the message.
    public var description: String { "\(code.rawValue): \(message)" }
}

extension LedgerDirectoryError {
    /// Converts an error from the directory's files.
    init(_ error: any Error) {
        switch error {
        case let error as LedgerDirectoryError:
            self = error
        case let error as FileError where error.isOutOfSpace:
            self.init(.outOfSpace, message: error.message)
        case let error as FileError where error.isOfThePath:
            self.init(.notALedger, message: error.message)
        case let error as FileError:
            self.init(.unreachable, message: error.message)
        case let error as LogError:
            self.init(Self.code(of: error), message: error.message(.cloud))
        default:
            self.init(.unreachable, message: "\(error)")
        }
    }

    private static func code(of error: LogError) -> Code {
        switch error {
        case .tooNew: .tooNew
        case .tooOld: .tooOld
        case .damaged, .noNumberLeft, .tooLarge: .damaged
        case .otherFormat: .notALedger
        case .replaced, .unusableLine, .closed, .unknownPosition: .unreachable
        }
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
