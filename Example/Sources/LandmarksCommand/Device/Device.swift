import CodableSync
import Foundation
import LandmarkModel

/// A device: its own state, and a cloud that it shares with others.
///
/// The state lies in `devices/NAME/cloud` below the home directory; for another cloud than the default one, the
/// last part is that cloud's path, so that the state of one cloud is never used for another.
struct Device: Sendable {
    let name: String
    let stateDirectory: URL
    let cloudDirectory: URL

    init(name: String, home: URL, cloud: URL?) {
        self.name = name
        let usual = home.appending(path: "cloud", directoryHint: .isDirectory)
        cloudDirectory = cloud ?? usual
        let identifier = LocalDatabase(directory: cloudDirectory).identifier
        let isUsual = identifier == LocalDatabase(directory: usual).identifier
        stateDirectory =
            home
            .appending(path: "devices", directoryHint: .isDirectory)
            .appending(path: FileName.of(name), directoryHint: .isDirectory)
            .appending(path: isUsual ? "cloud" : FileName.of(identifier), directoryHint: .isDirectory)
    }

    /// How the engine of a command is set up: nothing happens unless the command says so.
    var configuration: SyncConfiguration {
        var configuration = SyncConfiguration()
        configuration.storage = .directory(stateDirectory)
        configuration.automaticallySyncs = false
        configuration.logHandler = { event in
            if let warning = Self.warning(of: event) {
                Output.standardError.tell("landmarks: \(warning.oneLine)")
            }
        }
        return configuration
    }

    /// What a person at the terminal must know although the command goes on.
    static func warning(of event: SyncEvent) -> String? {
        switch event {
        case .stateRecovered(let text): "the state of this device was damaged: \(text)"
        case .storageFailed(let text): "the state of this device cannot be written: \(text)"
        case .undecodable(let name, let reason): "the landmark '\(name)' cannot be read: \(reason)"
        default: nil
        }
    }

    /// Opens the device for a piece of work, and closes it whatever becomes of that.
    ///
    /// - Parameters:
    ///   - configuration: Another set-up than that of most commands.
    ///   - body: The work.
    /// - Returns: What the work returns.
    /// - Throws: `SyncError` if the state cannot be used, and what the work throws.
    func withEngine<Result>(
        _ configuration: SyncConfiguration? = nil,
        _ body: (SyncEngine<Landmark>) async throws -> Result
    ) async throws -> Result {
        let database = LocalDatabase(directory: cloudDirectory)
        let engine = SyncEngine<Landmark>(
            database: database,
            configuration: configuration ?? self.configuration
        )
        do {
            let result = try await body(engine)
            try await engine.close()
            await database.close()
            return result
        } catch {
            try await engine.close()
            await database.close()
            throw error
        }
    }
}
