import ArgumentParser
import CodableSync
import Foundation
import LandmarkModel

/// Prints changes as they arrive.
struct Watch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Sync, then print each change as it arrives, until Ctrl-C.",
        discussion: """
            It doesn't print landmarks that are already known; `landmarks list` does. While it runs, other \
            commands on this device exit with code 75. Ctrl-C ends it with exit code 130; if the reader of its \
            output closes the pipe, it ends with 0; if the device's state is moved away, with 74.
            """
    )

    @OptionGroup var options: DeviceOptions

    func run() async throws {
        let device = try options.chosenDevice()
        // From now on, a signal asks the command to end, and doesn't end it.
        let interruption = Interruption()
        try await device.withEngine(automaticallySyncs: true) { engine in
            let state = try await engine.diagnostics().stateDirectory
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await Self.follow(engine) }
                group.addTask { try await interruption.wait() }
                group.addTask { try await Output.standard.waitForReaderToLeave() }
                if let state {
                    let watch = StateWatch(URL(filePath: state, directoryHint: .isDirectory))
                    group.addTask { try await watch.wait() }
                }
                // Whichever ends first: the signal, a closed pipe, a sync that fails, a state that was moved.
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

/// The lines that `watch` prints.
struct WatchedLandmarks {
    /// The records that were known before aren't printed.
    private var isReplaying = false
    private var hasPrinted = false
    /// Whether everything known before has been received.
    var hasBegun = false

    /// Handles a change.
    ///
    /// - Parameter change: The change.
    /// - Returns: A line for each record.
    mutating func take(_ change: ModelChange<Landmark>) -> [String] {
        switch change {
        case .reset:
            isReplaying = true
            return hasPrinted ? ["reset    another user, or a recovered state"] : []
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
