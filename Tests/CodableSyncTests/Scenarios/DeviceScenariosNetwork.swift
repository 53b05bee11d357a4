import XCTest

@testable import CodableSync

/// Scenarios, group M: unreliable networks and wrong clocks.
final class DeviceScenariosNetwork: EngineScenario {
    /// MD-02: two stories, or eight in an exhaustive run.
    func testThreeDevicesLoseNothingUnderAllFaults() async throws {
        for seed in try Seeds.named(first: 2, of: 2000..<2008) {
            let options = RandomStory<StampSet>.Options(
                devices: 3,
                steps: 60,
                deletes: false,
                everyFault: true
            )
            let story = RandomStory<StampSet>(seed: seed, options)
            try await story.run()
            if story.failures.isEmpty { continue }
            XCTFail((["seed \(seed)"] + story.log + story.failures).joined(separator: "\n"))
        }
    }

    private static let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]

    /// MD-10.
    func testACommutativeResolverConvergesInEveryOrderOfDevices() async throws {
        for (row, order) in Self.orders.enumerated() {
            // Every second pair, or all of them in an exhaustive run.
            let syncOrders = SyncOrder.allCases
            for syncOrder in Cases.places(every: 2, row: row, below: syncOrders.count).map({ syncOrders[$0] })
            {
                let name = order.map(String.init).joined() + syncOrder.rawValue
                let devices = try await editedOnThreeDevices(name)
                for index in order { try await syncOrder.sync(devices[index]) }
                try await assertAllStamps(name, on: devices)
            }
        }
    }

    /// MD-10: concurrent requests, answered in any order.
    func testACommutativeResolverConvergesInEveryOrderOfAnswers() async throws {
        for (row, order) in Self.orders.enumerated() {
            // Holds requests and answers in turn, or both in an exhaustive run.
            for holdsResponses in Cases.places(every: 2, row: row, below: 2).map({ $0 == 0 }) {
                let name = order.map(String.init).joined() + "\(holdsResponses)"
                let devices = try await editedOnThreeDevices(name)
                let gates = devices.map { _ in Gate() }
                for (device, gate) in zip(devices, gates) {
                    device.database.plan(.modify, holdsResponses ? .holdAfter(gate) : .holdBefore(gate))
                }
                let runs = devices.map { device in
                    let engine = device.engine
                    return Task { try await engine.sendChanges() }
                }
                for gate in gates { await gate.reached() }
                for index in order {
                    gates[index].open()
                    _ = try await runs[index].value
                }
                try await assertAllStamps(name, on: devices)
            }
        }
    }

    private func editedOnThreeDevices(_ name: String) async throws -> [Device<StampSet>] {
        let devices = try (0..<3).map { _ in try makeDevice(StampSet.self) { $0.storage = .inMemory } }
        try await devices[0].engine.upload(StampSet(id: name, stamps: ["old"]))
        for device in devices { try await device.engine.sync() }
        for (index, device) in devices.enumerated() {
            pass(.seconds(1))
            try await device.engine.upload(StampSet(id: name, stamps: ["old", "\(index)"]))
        }
        return devices
    }

    private func assertAllStamps(_ name: String, on devices: [Device<StampSet>]) async throws {
        try await settle(devices[0], devices[1], devices[2])
        let expected = StampSet(id: name, stamps: ["0", "1", "2", "old"])
        for device in devices {
            let model = try await device.engine.model(named: name)
            XCTAssertEqual(model, expected, name)
            try await device.engine.close()
        }
        let server = try await serverRecords()
        XCTAssertEqual(server[name]?.fields["stamps"], ["0", "1", "2", "old"], name)
    }

    /// MD-11.
    func testAClockTenYearsOffDoesNoHarm() async throws {
        for years in [-10.0, 10] {
            let wrong = ManualClock(wall: clock.now.wall.addingTimeInterval(years * 365 * 86_400))
            let name = "\(years)"
            let phone = try makeDevice(Note.self) { $0.clock = wrong }
            let tablet = try makeDevice(Note.self)
            try await phone.engine.upload(Note(name, "old"))
            try await settle(phone, tablet)
            try await show(phone, tablet)

            // Convergence: edits of different fields survive, and the same field has the same value
            // everywhere.
            pass()
            try await phone.engine.upload(Note(name, "phone", note: "kept"))
            try await tablet.engine.upload(Note(name, "tablet", color: "kept"))
            try await settle(phone, tablet)
            let merged = try await phone.engine.model(named: name)
            XCTAssertEqual(merged?.note, "kept", name)
            XCTAssertEqual(merged?.color, "kept", name)
            let other = try await tablet.engine.model(named: name)
            XCTAssertEqual(other, merged, name)

            // Tokens: known records are not fetched again.
            let told = try await phone.engine.sync()
            XCTAssertEqual(told.fetched, 0, name)
            XCTAssertFalse(phone.events.all.contains(.listingBegan), name)
            try await assertBackoffIsUnaffected(of: phone, clock: wrong, name)
        }
    }

    /// Asserts that the device waits exactly as long as the server says, even after a restart.
    private func assertBackoffIsUnaffected(
        of device: Device<Note>,
        clock wrong: ManualClock,
        _ name: String
    ) async throws {
        device.database.failNext(.fetch, .requestRateLimited, retryAfter: .seconds(30))
        _ = await device.beginSync().result
        try await device.restart()
        wrong.advance(by: .seconds(29))
        do {
            try await device.engine.sync()
            XCTFail("\(name): the server's wait is not over")
        } catch let error as SyncError where error.code == .waiting {
            let until = try XCTUnwrap(error.retryDate)
            XCTAssertEqual(until.timeIntervalSince(wrong.now.wall), 1, accuracy: 0.01, name)
        }
        wrong.advance(by: .seconds(1))
        let summary = try await device.engine.sync()
        XCTAssertEqual(summary.pending, 0, name)
    }
}
