import ArgumentParser
import CodableSync
import LandmarkModel

/// Follows what the other devices do.
struct Watch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Syncs, then prints each change as it arrives, until Ctrl-C.",
        discussion: """
            A change that was printed is done; one that was not comes again the next time. While it runs it has \
            the device's state, so that other commands on this device end with exit code 75. Ctrl-C is how it \
            ends: it closes the state, and the exit code is 130. Where nobody reads the output any more, it is 0.
            """
    )

    @OptionGroup var options: DeviceOptions

    func run() async throws {
        let device = try options.chosenDevice()
        var configuration = device.configuration
        configuration.automaticallySyncs = true
        configuration.keepsUndelivered = true
        // From now on a signal is a wish to end, not the end.
        let interruption = Interruption()
        try await device.withEngine(configuration) { engine in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await Self.follow(engine) }
                group.addTask { try await interruption.wait() }
                group.addTask { try await Output.standard.waitForReaderToLeave() }
                // Whichever ends first: the signal, a closed pipe, a sync that fails.
                defer { group.cancelAll() }
                try await group.next()
            }
        }
    }

    private static func follow(_ engine: SyncEngine<Landmark>) async throws {
        let summary = try await engine.sync()
        Output.standardError.tell("synced: " + Sync.text(of: summary).oneLine + "; Ctrl-C ends")
        for await change in engine.changes {
            for line in lines(of: change) { try Output.standard.write(line + "\n") }
        }
    }

    /// A change, a line for each record.
    static func lines(of change: ModelChange<Landmark>) -> [String] {
        switch change {
        case .updated(let landmarks): landmarks.map { "updated  \($0.recordName.shown)  \($0.line)" }
        case .saved(let landmarks): landmarks.map { "saved    \($0.recordName.shown)  \($0.line)" }
        case .deleted(let names): names.map { "deleted  \($0.shown)" }
        }
    }
}
