/// The exit codes, as in `sysexits.h`.
enum ExitStatus: Int32, CaseIterable {
    /// The command line is wrong.
    case usage = 64
    /// The input is wrong.
    case badData = 65
    /// There is no such input.
    case noInput = 66
    /// The cloud cannot be reached.
    case unavailable = 69
    /// Something that must not happen.
    case software = 70
    /// The disk refuses.
    case inputOutput = 74
    /// Another process has the state.
    case inUse = 75

    /// The word for programs.
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
