import ArgumentParser
import CodableSync

/// Why a command failed.
struct Failure: Error, Equatable {
    var status: ExitStatus
    var message: String
    /// Whether the message is printed without a prefix, such as the usage.
    var isWholeText = false

    init(_ status: ExitStatus, _ message: String, isWholeText: Bool = false) {
        self.status = status
        self.message = message
        self.isWholeText = isWholeText
    }

    /// The message for any error.
    init(_ error: any Error) {
        switch error {
        case let failure as Failure:
            self = failure
        case let error as SyncError where error.code == .stateInUse:
            self.init(
                .inUse,
                "this device is in use; wait for the other command, or use another --device (\(error.message))"
            )
        case let error as SyncError where error.cloudError?.code == .notAuthenticated:
            self.init(.unavailable, "\(error.description) Run 'landmarks sign-in' with the same --cloud.")
        case let error as SyncError where error.code == .waitingForDecision:
            self.init(
                .unavailable,
                "the user removed the data from the cloud. Run 'landmarks answer-purge upload-again' to upload what "
                    + "is here, or 'landmarks answer-purge remove-local' to remove it here, too"
            )
        case let error as SyncError:
            self.init(Self.status(of: error), error.description)
        case let error as CloudError:
            self.init(.unavailable, error.description)
        case OutputError.failed(let reason):
            self.init(.inputOutput, "can't write the output: \(reason)")
        default:
            // The parser asks for help if the command is missing.
            let isUsage = Self.isHelp(error) || Landmarks.exitCode(for: error) == .validationFailure
            let message = Landmarks.message(for: error)
            self.init(isUsage ? .usage : .software, message.isEmpty ? "\(error)" : message)
        }
    }

    private static func status(of error: SyncError) -> ExitStatus {
        switch error.code {
        // Too large, an invalid name, or written by a newer version of the app.
        case .invalidModels, .recordUndecodable: .badData
        case .recordNotFound: .noInput
        // A full disk, or files that can't be read.
        case .storageFull, .stateTooNew, .storageFailed: .inputOutput
        case .stateInUse: .inUse
        // The cloud is unreachable, or has asked to wait.
        case .waiting, .waitingForDecision, .cloud: .unavailable
        // The state at the chosen place belongs to something else, such as another cloud.
        case .configuration: .usage
        // Commands don't use a stopped or closed engine, or a view.
        case .stopped, .closed, .userChanged: .software
        @unknown default: .software
        }
    }

    /// Whether an error is a request for help.
    static func isHelp(_ error: any Error) -> Bool {
        !(error is Failure) && !(error is SyncError) && Landmarks.exitCode(for: error) == .success
    }

    /// The message for people, always in one line.
    var text: String { isWholeText ? message : "landmarks: \(message.oneLine)" }

    /// The message for programs.
    var json: String {
        JSONText.of(Document(error: Details(exit: status.rawValue, code: status.code, message: summary)))
    }

    private var summary: String { isWholeText ? "no command is given" : message.oneLine }

    private struct Document: Encodable {
        var error: Details
    }

    private struct Details: Encodable {
        var exit: Int32
        var code: String
        var message: String
    }
}
