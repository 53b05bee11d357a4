/// The exit codes, as in `sysexits.h`.
enum ExitStatus: Int32, CaseIterable {
    /// The command line is wrong.
    case usage = 64
    /// The input is wrong.
    case badData = 65
    /// There is no such input.
    case noInput = 66
    /// The cloud is unreachable.
    case unavailable = 69
    /// An internal error.
    case software = 70
    /// The disk can't be read or written.
    case inputOutput = 74
    /// Another process uses the state.
    case inUse = 75

    /// The name for programs.
    var code: String {
        switch self {
        case .usage: "usage"
        case .badData: "badData"
        case .noInput: "noInput"
        case .unavailable: "cloudUnreachable"
        case .software: "software"
        case .inputOutput: "inputOutput"
        case .inUse: "stateInUse"
        }
    }
}
