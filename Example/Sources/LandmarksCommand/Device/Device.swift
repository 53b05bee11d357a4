import CodableSync
import Foundation
import LandmarkModel

/// A device: its own state, and a cloud shared with other devices.
///
/// The state of each cloud lies in a directory of its own, `devices/NAME/IDENTIFIER` below the home directory, so that
/// the state of one cloud is never used for another. The identifier is in the cloud's files: a moved cloud stays the
/// same.
struct Device: Sendable {
    let name: String
    let cloud: Cloud
    private let statesDirectory: URL
    private let sessionsDirectory: URL

    init(name: String, home: URL, cloud: Cloud? = nil) {
        self.name = name
        self.cloud =
            cloud ?? .directory(home.appending(path: "cloud", directoryHint: .isDirectory), isGiven: false)
        statesDirectory =
            home
            .appending(path: "devices", directoryHint: .isDirectory)
            .appending(path: FileName.of(name), directoryHint: .isDirectory)
        sessionsDirectory =
            home
            .appending(path: "sessions", directoryHint: .isDirectory)
            .appending(path: FileName.of(name), directoryHint: .isDirectory)
    }

    /// The directory of the state for a cloud.
    func stateDirectory(for cloud: String) -> URL {
        statesDirectory.appending(path: FileName.of(cloud), directoryHint: .isDirectory)
    }

    /// The warning before a state is begun, if this device has one for another cloud; `nil` otherwise.
    ///
    /// A cloud that was removed and made again is another one. The edits that were not sent to the former are still
    /// on this device.
    func warning(beforeBeginning state: URL) -> String? {
        let files = FileManager.default
        let exists = files.fileExists(atPath: state.path)
        guard !exists, files.fileExists(atPath: statesDirectory.path) else { return nil }
        return "'\(cloud.place.shown)' is a new cloud for this device, which begins an empty state; "
            + "what it has for other clouds stays in '\(statesDirectory.path.shown)'"
    }

    /// The configuration of a command's engine, which makes no requests on its own.
    private func configuration(_ state: URL) -> SyncConfiguration {
        var configuration = SyncConfiguration()
        configuration.storage = .directory(state)
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

    /// The user's access to a server, with the tokens of this device.
    func session(on server: WebServer) -> CloudKitWebSession {
        server.session(file: sessionsDirectory.appending(path: FileName.of(server.identifier) + ".json"))
    }

    /// A connection to the cloud, and what closes it.
    private func connect() -> (database: any CloudDatabase, close: () async -> Void) {
        switch cloud {
        case .directory(let directory, _):
            let database = LocalDatabase(directory: directory)
            return (database, { await database.close() })
        case .server(let server):
            let session = session(on: server)
            return (.cloudKitWeb(session), { await session.close() })
        }
    }

    /// The identifier of the cloud; an empty directory becomes a cloud.
    private func identifier(of database: any CloudDatabase) throws -> String {
        do {
            return try database.identifier
        } catch let error as CloudError {
            let status: ExitStatus =
                if case .directory(_, isGiven: false) = cloud { .inputOutput } else { .unavailable }
            throw Failure(status, "the directory of the cloud can't be used: \(error.message)")
        }
    }

    /// Opens the device for some work, and always closes it again.
    ///
    /// - Parameters:
    ///   - automaticallySyncs: Whether the engine makes requests on its own.
    ///   - body: The work.
    /// - Returns: What the work returns.
    /// - Throws: ``Failure`` if the directory of the cloud can't be used, `SyncError` if the state can't, and what the
    ///   work throws.
    func withEngine<Result>(
        automaticallySyncs: Bool = false,
        _ body: (SyncEngine<Landmark>) async throws -> Result
    ) async throws -> Result {
        let (database, close) = connect()
        do {
            let state = stateDirectory(for: try identifier(of: database))
            if let warning = warning(beforeBeginning: state) {
                Output.standardError.tell("landmarks: \(warning)")
            }
            var configuration = configuration(state)
            configuration.automaticallySyncs = automaticallySyncs
            let engine = SyncEngine<Landmark>(database: database, configuration: configuration)
            do {
                let result = try await body(engine)
                try await engine.close()
                await close()
                return result
            } catch {
                try await engine.close()
                throw error
            }
        } catch {
            await close()
            throw cloud.naming(error)
        }
    }
}
