import Foundation
import XCTest

@testable import CodableSync

/// A cloud in a directory of a simulated disk, which can be restored to an earlier state.
final class RestorableCloud: TestCloud {
    /// How the files of a backup replace the current ones.
    enum Manner: String, CaseIterable {
        /// New files with the same names, as a backup program creates.
        case newFiles
        /// The same files with other contents, as `cp` does.
        case inPlace
    }

    let disk = SimulatedFileSystem()
    private let clock: ManualClock
    private let connections = Locked<[LocalDatabase]>([])

    init(clock: ManualClock) {
        self.clock = clock
    }

    func connect() -> any CloudDatabase {
        let database = LocalDatabase(
            directory: URL(filePath: "/cloud"),
            user: "alice",
            fileSystem: disk,
            clock: clock
        )
        connections.withLock { $0.append(database) }
        return database
    }

    func close() async {
        for database in connections.withLock({ $0 }) { await database.close() }
    }

    var backup: [String: [UInt8]] { disk.files.filter { $0.key.hasPrefix("/cloud/") } }

    func restore(_ backup: [String: [UInt8]], _ manner: Manner) throws {
        for path in self.backup.keys where backup[path] == nil { try disk.remove(path) }
        for (path, bytes) in backup {
            if manner == .inPlace, disk.bytes(at: path) != nil {
                let file = try disk.openFile(at: path, for: .appending)
                try file.truncate(to: 0)
                try file.append(bytes)
            } else {
                disk.place(bytes, at: path)
            }
        }
    }
}

/// Scenarios with a cloud that is restored to an earlier state.
class RestoredCloudScenario: EngineScenario {
    private(set) var cloud = RestorableCloud(clock: ManualClock())

    override func makeCloud() throws -> any TestCloud {
        cloud = RestorableCloud(clock: clock)
        return cloud
    }

    /// A new process: another engine and another connection on the same disk.
    func newProcess<Model>(of device: Device<Model>) async throws -> Device<Model> {
        try await device.engine.close()
        return Device(cloud.connect(), clock: clock, files: device.files)
    }

    func titles<Model>(_ device: Device<Item<Model>>) async throws -> [String] {
        try await device.engine.allModels().map(\.title).sorted()
    }

    func assertTold(_ device: Device<Note>, file: StaticString = #filePath, line: UInt = #line) {
        XCTAssertTrue(device.events.all.contains(.zoneLost(nil)), "no event", file: file, line: line)
    }
}
