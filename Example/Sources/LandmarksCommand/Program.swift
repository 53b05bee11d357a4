import ArgumentParser

/// A run of the command, from its arguments to its exit code.
struct Program {
    let arguments: [String]
    var output = Output.standard
    var errors = Output.standardError

    func run() async -> Int32 {
        do {
            try ArgumentCheck(arguments).check()
            var command = try Landmarks.parseAsRoot(arguments)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            return 0
        } catch {
            return report(error)
        }
    }

    private func report(_ error: any Error) -> Int32 {
        // The reader has closed the pipe.
        if case OutputError.closed = error { return 0 }
        // The user ended the command.
        if let interrupted = error as? Interrupted { return interrupted.status }
        if Failure.isHelp(error), ArgumentCheck(arguments).asksForHelp {
            return show(Landmarks.message(for: error))
        }
        let failure = Failure(error)
        errors.tell(failure.text)
        if ArgumentCheck(arguments).asksForJSON {
            return show(failure.json, status: failure.status.rawValue)
        }
        return failure.status.rawValue
    }

    private func show(_ text: String, status: Int32 = 0) -> Int32 {
        do {
            try output.write(text + "\n")
            return status
        } catch OutputError.closed {
            return status
        } catch {
            errors.tell(Failure(error).text)
            return ExitStatus.inputOutput.rawValue
        }
    }
}
