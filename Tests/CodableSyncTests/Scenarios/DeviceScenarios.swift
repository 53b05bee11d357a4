import XCTest

@testable import CodableSync

/// Scenarios, group M: several devices.
class DeviceScenarios: EngineScenario {
    enum Hot: MergingPolicy {}
    enum Quiet: MergingPolicy {}
    enum Late: MergingPolicy {}

    /// MD-01: 100 operations, or 300 in an exhaustive run.
    func testTwoDevicesMatchTheOracleAfterEveryOperation() async throws {
        var random = SplitMix64(seed: 1)
        var oracle = SyncOracle(devices: 2)
        let devices = [try makeDevice(StampSet.self), try makeDevice(StampSet.self)]
        let names = ["a", "b", "c", "d", "e", "f"]
        for step in 0..<Cases.sample(100, of: 300) {
            pass(.seconds(1))
            let index = Int.random(in: 0..<2, using: &random)
            let name = names.randomElement(using: &random) ?? "a"
            let engine = devices[index].engine
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                var model = try await engine.model(named: name) ?? StampSet(id: name)
                model.stamps.append("\(step)")
                try await engine.upload(model)
                oracle.upload(name, Set(model.stamps), on: index)
            case 5:
                try await engine.delete(named: [name])
                oracle.delete(name, on: index)
            default:
                try await engine.sync()
                oracle.sync(index)
            }
            let models = try await engine.allModels()
            XCTAssertEqual(models.stamps, oracle.models(on: index), "step \(step), device \(index)")
        }
        try await settle(devices[0], devices[1])
        for index in [0, 1, 0] { oracle.sync(index) }
        for (index, device) in devices.enumerated() {
            let models = try await device.engine.allModels()
            XCTAssertEqual(models.stamps, oracle.server.mapValues(\.stamps), "device \(index)")
            XCTAssertEqual(models.stamps, oracle.models(on: index), "device \(index)")
        }
        XCTAssertGreaterThan(oracle.server.count, 2)
        try await assertEqualEverywhere(devices[0], devices[1])
    }

    /// MD-03.
    func testFiveDevicesEditingOneRecordConvergeAfterFewResolverCalls() async throws {
        Calls.shared.reset(Hot.self)
        let devices = try (0..<5).map { _ in try makeDevice(Item<Hot>.self) }
        try await devices[0].engine.upload(Item("hot", "old"))
        for device in devices { try await device.engine.sync() }
        let rounds = 6
        for round in 1...rounds {
            for (index, device) in devices.enumerated() {
                pass(.seconds(1))
                var model = try await XCTUnwrapAsync(await device.engine.model(named: "hot"))
                model.title = "\(round).\(index)"
                model.tags.append("\(round).\(index)")
                try await device.engine.upload(model)
            }
            // All devices sync at once, so that their requests interleave.
            let runs = devices.map { $0.beginSync() }
            for run in runs { _ = try await run.value }
        }
        try await settle(devices[0], devices[1], devices[2], devices[3], devices[4])
        try await assertEqualEverywhere(devices[0], devices[1], devices[2], devices[3], devices[4])
        let server = try await serverRecords()
        XCTAssertEqual(server["hot"]?.fields["title"], .string("\(rounds).4"), "the last edit")
        // Each of the five devices conflicts with at most four others, and each edit meets each version at
        // most once.
        XCTAssertLessThanOrEqual(Calls.shared.count(Hot.self), rounds * 5 * 4)
        XCTAssertGreaterThan(Calls.shared.count(Hot.self), 0)
        for device in devices {
            XCTAssertEqual(device.events.count { if case .conflictLoop = $0 { true } else { false } }, 0)
        }
    }

    /// MD-04.
    func testADeviceThatJoinsLateGetsAllRecordsAndUploadsNone() async throws {
        Calls.shared.reset(Late.self)
        let phone = try makeDevice(Item<Late>.self)
        let models = (0..<450).map { Item<Late>(String(format: "n-%03d", $0), "\($0)") }
        try await phone.engine.upload(models)
        try await phone.engine.sync()
        try await phone.engine.delete(named: ["n-000"])
        try await phone.engine.sync()
        let tablet = try makeDevice(Item<Late>.self)
        let summary = try await tablet.engine.sync()
        XCTAssertEqual(summary.fetched, 449)
        XCTAssertEqual(summary.sent, 0)
        let told = try await tablet.drain()
        XCTAssertEqual(told.flatMap(\.models).sorted { $0.id < $1.id }, Array(models.dropFirst()))
        try await tablet.engine.sync()
        XCTAssertEqual(tablet.database.modifies.count, 0)
        XCTAssertEqual(Calls.shared.count(Late.self), 0)
        try await assertEqualEverywhere(phone, tablet)
    }

    /// MD-05.
    func testADeviceThatReturnsWith500EditsMergesAllOfThem() async throws {
        let names = (0..<100).map { String(format: "n-%03d", $0) }
        let (phone, tablet) = (try makeDevice(Note.self), try makeDevice(Note.self))
        try await phone.engine.upload(names.map { Note($0, "old") })
        try await phone.engine.sync()
        try await tablet.engine.sync()
        try await show(phone, tablet)
        tablet.database.isReachable = false
        for edit in 1...5 {
            pass(.seconds(1))
            try await tablet.engine.upload(names.map { Note($0, "old", note: "offline \($0) \(edit)") })
        }
        pass()
        try await phone.engine.upload(names.map { Note($0, "online \($0)") })
        try await phone.engine.sync()
        pass()
        tablet.database.isReachable = true
        try await settle(tablet, phone)
        let merged = try await phone.engine.allModels()
        XCTAssertEqual(merged, names.map { Note($0, "online \($0)", note: "offline \($0) 5") })
        try await assertEqualEverywhere(phone, tablet)
    }

    /// MD-08.
    func testTwoVersionsOfAnAppConvergeAndLoseNoNewFields() async throws {
        var random = SplitMix64(seed: 8)
        let old = [try makeDevice(PlaceV1.self), try makeDevice(PlaceV1.self)]
        let new = try makeDevice(PlaceV2.self)
        var lastNote: [String: String] = [:]
        var lastTitle: [String: String] = [:]
        for step in 0..<120 {
            pass(.seconds(1))
            let name = ["a", "b", "c"].randomElement(using: &random) ?? "a"
            let index = Int.random(in: 0..<3, using: &random)
            let isSync = Bool.random(using: &random)
            if index == 2, isSync {
                try await new.engine.sync()
            } else if index == 2 {
                var model = try await new.engine.model(named: name) ?? PlaceV2(id: name)
                (model.note, model.stars, model.title) = ("\(step)", step, "\(step)")
                try await new.engine.upload(model)
                (lastNote[name], lastTitle[name]) = ("\(step)", "\(step)")
            } else if isSync {
                try await old[index].engine.sync()
            } else {
                var model = try await old[index].engine.model(named: name) ?? PlaceV1(id: name)
                model.title = "\(step)"
                try await old[index].engine.upload(model)
                lastTitle[name] = "\(step)"
            }
        }
        for _ in 0..<4 {
            for device in old { try await device.engine.sync() }
            try await new.engine.sync()
        }
        let models = try await new.engine.allModels()
        XCTAssertEqual(models.map(\.id), ["a", "b", "c"])
        for model in models {
            XCTAssertEqual(model.note, lastNote[model.id], model.id)
            XCTAssertEqual(model.stars, lastNote[model.id].flatMap { Int($0) }, model.id)
            XCTAssertEqual(model.title, lastTitle[model.id], model.id)
        }
        let server = try await serverRecords("Place")
        for device in old {
            let shown = try await device.engine.allModels()
            XCTAssertEqual(shown, models.map { PlaceV1(id: $0.id, title: $0.title) })
            for model in shown { XCTAssertEqual(server[model.id]?.fields["title"], .string(model.title)) }
        }
    }

    /// MD-09.
    func testAfterConvergenceDevicesOnlyPollFor24Hours() async throws {
        Calls.shared.reset(Quiet.self)
        let disk = SimulatedFileSystem()
        let phone = try makeDevice(Item<Quiet>.self) {
            ($0.automaticallySyncs, $0.pollInterval, $0.fileSystem) = (true, .seconds(300), disk)
        }
        let tablet = try makeDevice(Item<Quiet>.self) {
            ($0.automaticallySyncs, $0.pollInterval) = (true, .seconds(300))
        }
        // Without signals, only polls cause fetches.
        for device in [phone, tablet] { device.database.loseSignals() }
        try await phone.engine.upload(Item("a", "phone"))
        try await tablet.engine.upload([Item("a", "tablet"), Item("b")])
        try await settle(phone, tablet)
        // Changes that one device sent automatically between two calls must still be fetched by the other.
        try await quiet(phone)
        try await quiet(tablet)
        try await settle(phone, tablet)
        try await show(phone, tablet)
        let calls = Calls.shared.count(Quiet.self)
        try await quiet(phone)
        try await quiet(tablet)
        let requests = counts(phone, tablet)
        let bytes = disk.writtenBytes
        for poll in 1...(24 * 12) {
            pass(.seconds(300))
            for (device, before) in zip([phone, tablet], requests) {
                try await quiet(device)
                XCTAssertEqual(device.database.count(.fetch), before[.fetch, default: 0] + poll)
            }
        }
        for (before, after) in zip(requests, counts(phone, tablet)) {
            for operation in ScriptedDatabase.Operation.allCases where operation != .fetch {
                XCTAssertEqual(after[operation], before[operation], "\(operation)")
            }
        }
        XCTAssertEqual(disk.writtenBytes, bytes)
        XCTAssertEqual(Calls.shared.count(Quiet.self), calls)
    }

    /// The number of requests of each kind, by device.
    private func counts<Model>(_ devices: Device<Model>...) -> [[ScriptedDatabase.Operation: Int]] {
        devices.map { device in
            ScriptedDatabase.Operation.allCases.reduce(into: [:]) { $0[$1] = device.database.count($1) }
        }
    }
}

final class DeviceScenariosOnLocalDatabase: DeviceScenarios {
    override func makeCloud() throws -> any TestCloud { try makeLocalCloud() }

    func testTheDatabaseIsADirectory() throws {
        XCTAssertTrue(try makeDevice(StampSet.self).database.base is LocalDatabase)
    }
}

extension [StampSet] {
    fileprivate var stamps: [String: Set<String>] { reduce(into: [:]) { $0[$1.id] = Set($1.stamps) } }
}

/// Like `XCTUnwrap`, for awaited values.
func XCTUnwrapAsync<Value>(
    _ value: Value?,
    file: StaticString = #filePath,
    line: UInt = #line
) async throws -> Value {
    try XCTUnwrap(value, file: file, line: line)
}
