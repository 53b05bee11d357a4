import Dispatch
import Foundation
import RecordCoding

/// What opening the state gives.
struct OpenedState: Sendable {
    var store: any StateStore
    var directory: StateDirectory
    var state: SyncState
    var nextHandle: UInt64
    var user: String?
    /// The path, for people; `nil` in memory.
    var path: String?
    /// What had to be recovered, in words.
    var recovered: [String]

    func close() {
        store.close()
        directory.release()
    }
}

/// Where an engine's state is: a directory of its own for each cloud, container, scope and zone.
struct StateLocation: Sendable {
    private let path: String
    private let isInMemory: Bool
    private let fileSystem: any FileSystem

    init(database: any CloudDatabase, configuration: SyncConfiguration, zoneID: ZoneID) {
        switch configuration.storage {
        case .directory(let url):
            path = url.path
            isInMemory = false
        case .inMemory:
            path = "/state"
            isInMemory = true
        case .automatic:
            isInMemory = database.isInMemory
            path = isInMemory ? "/state" : Self.defaultPath(database, configuration, zoneID)
        }
        fileSystem = configuration.fileSystem ?? (isInMemory ? MemoryFileSystem() : LocalFileSystem())
    }

    private static func defaultPath(
        _ database: any CloudDatabase,
        _ configuration: SyncConfiguration,
        _ zoneID: ZoneID
    ) -> String {
        let container =
            configuration.containerIdentifier ?? Bundle.main.bundleIdentifier
            ?? ProcessInfo.processInfo.processName
        let parts = [container, database.identifier, database.scope.rawValue, zoneID.zoneName]
        return parts.reduce(DataDirectory.path.appending(path: "CodableSync")) { path, part in
            path.appending(path: fileName(for: part))
        }
    }

    /// A name that any file system takes; different parts give different names.
    private static func fileName(for part: String) -> String {
        var name = ""
        for byte in part.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                name.append(Character(UnicodeScalar(byte)))
            case UInt8(ascii: ".") where !name.isEmpty:
                name.append(".")
            default:
                name += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        if name.utf8.count <= 120 { return name.isEmpty ? "%" : name }
        return name.prefix(96) + "%~" + String(StableHash.of(part), radix: 16)
    }

    /// Opens the state, on a thread that may wait for the disk.
    func open(at now: Moment) async throws -> OpenedState {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(with: Result { try openNow(at: now) })
            }
        }
    }

    private func openNow(at now: Moment) throws -> OpenedState {
        do {
            let directory = try StateDirectory(path: path, fileSystem: fileSystem)
            do {
                let opened = try directory.openLast()
                var state = opened.state
                let recovered = try recover(opened, &state, now)
                return OpenedState(
                    store: opened.store,
                    directory: directory,
                    state: state,
                    nextHandle: opened.nextHandle,
                    user: directory.lastUser,
                    path: isInMemory ? nil : path,
                    recovered: recovered
                )
            } catch {
                directory.release()
                if error is JournalFailure { throw error }
                throw StateDirectory.Failure(error, in: path)
            }
        } catch StateDirectory.Failure.inUse(let owner) {
            throw SyncError.stateInUse(by: owner)
        } catch StateDirectory.Failure.full(let detail) {
            throw SyncError.storageFull(detail)
        } catch StateDirectory.Failure.tooNew(let detail) {
            throw SyncError.stateTooNew(detail)
        } catch StateDirectory.Failure.unreadable(let detail) {
            throw SyncError.stateUnreadable(detail)
        } catch JournalFailure.storageFull(let detail) {
            throw SyncError.storageFull(detail)
        } catch JournalFailure.unreadable(let detail) {
            throw SyncError.stateUnreadable(detail)
        }
    }
}
