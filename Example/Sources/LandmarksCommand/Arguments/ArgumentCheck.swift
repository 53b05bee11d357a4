import ArgumentParser

/// Checks before the arguments are parsed: a missing or unknown command, or a repeated option.
struct ArgumentCheck {
    private let arguments: [String]

    init(_ arguments: [String]) {
        // After a bare `--` nothing is an option.
        self.arguments = Array(arguments.prefix { $0 != "--" })
    }

    /// The command's own options that take a value.
    private static let valued = ["--device", "--home", "--cloud"]

    /// The subcommands, `help` among them.
    static let commands =
        Landmarks.configuration.subcommands.map { command in
            command.configuration.commandName ?? String(describing: command).lowercased()
        } + ["help"]

    var asksForJSON: Bool { arguments.contains("--json") }

    /// Whether the arguments ask for help, by an option or by the command.
    var asksForHelp: Bool {
        arguments.contains("--help") || arguments.contains("-h") || command == "help"
    }

    /// The first argument that is neither an option nor an option's value.
    private var command: String? { operands.first }

    private var operands: [String] { sorted.operands }
    private var options: [String] { sorted.options }

    /// The arguments by their kind, without the values of the options in front of the command.
    private var sorted: (operands: [String], options: [String]) {
        var sorted: (operands: [String], options: [String]) = ([], [])
        var isValue = false
        for argument in arguments {
            if isValue {
                isValue = false
            } else if argument.hasPrefix("-") {
                isValue = Self.valued.contains(argument)
                sorted.options.append(argument)
            } else {
                sorted.operands.append(argument)
            }
        }
        return sorted
    }

    /// Throws a usage failure for the first thing that is wrong.
    func check() throws {
        try checkCommand()
        if asksForHelp { return }
        // The parser would take the command that follows as the value.
        if let option = Self.valued.first(where: { arguments.contains("\($0)=") }) {
            throw Failure(.usage, "the value of '\(option)' is empty")
        }
        guard command != nil else { throw withoutCommand }
        try checkRepetition()
    }

    /// This also applies to `help`: the parser would print another command's page.
    private func checkCommand() throws {
        let named = command == "help" ? operands.dropFirst().first : command
        if let named, !Self.commands.contains(named) {
            throw Failure(.usage, "unknown command '\(named.shown)'\(remedy(for: named))")
        }
    }

    private var withoutCommand: Failure {
        if let option = arguments.last, Self.valued.contains(option) {
            return Failure(.usage, "missing value for '\(option)'")
        }
        let isKnown = { (option: String) in
            option == "--json" || Self.valued.contains { option == $0 || option.hasPrefix($0 + "=") }
        }
        if let option = options.first(where: { !isKnown($0) }) {
            return Failure(.usage, "unknown option '\(option.shown)'")
        }
        return Failure(.usage, Landmarks.helpMessage(), isWholeText: true)
    }

    private func remedy(for command: String) -> String {
        if let nearest = EditDistance.nearest(to: command, among: Self.commands) {
            return "; did you mean '\(nearest)'?"
        }
        return "; the commands are \(Self.commands.joined(separator: ", "))"
    }

    /// The parser would silently use the last one.
    private func checkRepetition() throws {
        var seen: Set<Substring> = []
        for argument in arguments where argument.hasPrefix("--") {
            let name = argument.prefix { $0 != "=" }
            if !seen.insert(name).inserted {
                throw Failure(.usage, "'\(String(name).shown)' is given twice")
            }
        }
    }
}
