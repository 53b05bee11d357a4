/// Why a directory that keeps a ledger could not be used.
public struct LedgerDirectoryError: Error, Hashable, Sendable {
    /// The kind of failure.
    public enum Code: String, Hashable, Sendable {
        /// A file is not what was written to it; it is left as it is.
        case damaged
        /// The files are those of a newer version of the library; they are left as they are.
        case tooNew
        /// The path, or something in the directory, belongs to somebody else.
        case notALedger
        /// The disk is full; what was asked for is not done.
        case outOfSpace
        /// The files cannot be reached now; what was asked for is not done.
        case unreachable
        /// Another process has held the directory's lock for too long; what was asked for is not done.
        case locked
        /// The task was cancelled before its turn came; what was asked for is not done.
        case cancelled
        /// Writing failed at the end; whether it is done shows when it is asked for again.
        case outcomeUnknown
        /// The directory was closed.
        case closed
    }

    /// The kind of failure.
    public var code: Code
    /// What happened, where, and what to do about it.
    public var message: String

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - message: What happened, where, and what to do about it.
    public init(_ code: Code, message: String) {
        self.code = code
        self.message = message
    }
}

extension LedgerDirectoryError: CustomStringConvertible {
    /// The code's name and the message.
    public var description: String { "\(code.rawValue): \(message)" }
}

extension LedgerDirectoryError {
    /// Says in the directory's words what its files said.
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
        case .damaged, .noNumberLeft, .tooLarge: .damaged
        case .otherFormat: .notALedger
        case .replaced, .unusableLine, .closed, .unknownPosition: .unreachable
        }
    }
}

extension LogAdvice {
    /// Every device knows what it has uploaded.
    static let cloud = LogAdvice(damaged: CloudLedger.adviceToReplace, unusable: CloudLedger.adviceToReplace)
}
