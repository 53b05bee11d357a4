import CodableSync
import Foundation
import LandmarkModel

/// A device: its own state, and a cloud shared with other devices.
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

    /// The configuration of a command's engine, which makes no requests on its own.
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

    /// The warning for an event after which the command continues.
    static func warning(of event: SyncEvent) -> String? {
        switch event {
        case .stateRecovered(let text): "recovered the damaged state of this device: \(text)"
        case .storageFailed(let text): "can't use the state of this device: \(text)"
        case .undecodable(let name, let reason): "can't read the landmark '\(name)': \(reason)"
        default: nil
        }
    }

    /// Opens the device for some work, and always closes it again.
    ///
    /// - Parameters:
    ///   - configuration: The configuration, if it isn't the usual one.
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
