import ArgumentParser
import CodableSync

/// Why a command ends without having done all that it was asked to.
struct Failure: Error, Equatable {
    var status: ExitStatus
    var message: String
    /// Whether the message is a page of its own, such as the usage.
    var isWholeText = false

    init(_ status: ExitStatus, _ message: String, isWholeText: Bool = false) {
        self.status = status
        self.message = message
        self.isWholeText = isWholeText
    }

    /// Any error, as the user is told it.
    init(_ error: any Error) {
        switch error {
        case let failure as Failure:
            self = failure
        case let error as SyncError where error.code == .stateInUse:
            self.init(
                .inUse,
                "this device is in use: wait until the other command has ended, or use another --device (\(error.message))"
            )
        case let error as SyncError:
            self.init(Self.status(of: error), error.description)
        case let error as CloudError:
            self.init(.unavailable, error.description)
        case OutputError.failed(let reason):
            self.init(.inputOutput, "the output cannot be written: \(reason)")
        default:
            // A wish for help that nobody had: a command is missing.
            let isUsage = Self.isHelp(error) || Landmarks.exitCode(for: error) == .validationFailure
            let message = Landmarks.message(for: error)
            self.init(isUsage ? .usage : .software, message.isEmpty ? "\(error)" : message)
        }
    }

    private static func status(of error: SyncError) -> ExitStatus {
        switch error.code {
        // Too large, a name that the cloud refuses, or written by a newer version of the app.
        case .invalidModels, .recordUndecodable: .badData
        case .recordNotFound: .noInput
        // A full disk, or files that cannot be read, now or by this version.
        case .storageFull, .stateTooNew, .stateUnreadable: .inputOutput
        case .stateInUse: .inUse
        // The cloud, or its orders.
        case .waiting, .waitingForDecision, .cloud: .unavailable
        // The commands neither stop nor close an engine that they still use, nor set one up wrongly.
        case .configuration, .stopped, .closed: .software
        @unknown default: .software
        }
    }

    /// Whether an error is a wish for help that the parser has answered.
    static func isHelp(_ error: any Error) -> Bool {
        !(error is Failure) && !(error is SyncError) && Landmarks.exitCode(for: error) == .success
    }

    /// For people: one line, whatever an argument or a file put into it.
    var text: String { isWholeText ? message : "landmarks: \(message.oneLine)" }

    /// For programs.
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
