import ArgumentParser
import CodableSync
import LandmarkModel

/// Follows what this device shows.
struct Watch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Syncs, then prints each change as it arrives, until Ctrl-C.",
        discussion: """
            Landmarks that are here already are not printed; `landmarks list` does that. While it runs it has the \
            device's state, so that other commands on this device end with exit code 75. Ctrl-C is how it ends: it \
            closes the state, and the exit code is 130. Where nobody reads the output any more, it is 0.
            """
    )

    @OptionGroup var options: DeviceOptions

    func run() async throws {
        let device = try options.chosenDevice()
        var configuration = device.configuration
        configuration.automaticallySyncs = true
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
        var watched = WatchedLandmarks()
        for await change in engine.liveChanges {
            for line in watched.take(change) { try Output.standard.write(line + "\n") }
            guard watched.hasBegun else { continue }
            Output.standardError.tell("synced: " + Sync.text(of: summary).oneLine + "; Ctrl-C ends")
            watched.hasBegun = false
        }
    }
}

/// The lines that `watch` prints for the changes that it meets.
struct WatchedLandmarks {
    /// Those that are here already are not printed.
    private var isReplaying = false
    private var hasPrinted = false
    /// Whether everything that was here has just been met for the first time.
    var hasBegun = false

    /// Takes a change.
    ///
    /// - Parameter change: The change.
    /// - Returns: A line for each record.
    mutating func take(_ change: ModelChange<Landmark>) -> [String] {
        switch change {
        case .reset:
            isReplaying = true
            return hasPrinted ? ["reset    another user, or a state that was damaged"] : []
        case .replayed:
            isReplaying = false
            hasBegun = !hasPrinted
            hasPrinted = true
            return []
        case .updated(let landmarks):
            if isReplaying { return [] }
            return landmarks.map { "updated  \($0.recordName.shown)  \($0.line)" }
        case .saved(let landmarks): return landmarks.map { "saved    \($0.recordName.shown)  \($0.line)" }
        case .deleted(let names): return names.map { "deleted  \($0.shown)" }
        }
    }
}
