import XCTest

@testable import CodableSync

/// The two orders in which a device can find a conflict.
enum SyncOrder: String, CaseIterable {
    case fetchFirst, sendFirst

    func sync<Model>(_ device: Device<Model>) async throws {
        switch self {
        case .fetchFirst:
            try await device.engine.fetchChanges()
            try await device.engine.sendChanges()
        case .sendFirst:
            try await device.engine.sendChanges()
            try await device.engine.fetchChanges()
        }
    }
}

extension EngineScenario {
    /// Two devices that have the same models and have shown them.
    func makePair<Model>(
        _ models: Model...,
        configure: (inout SyncConfiguration) -> Void = { _ in }
    ) async throws -> (phone: Device<Model>, tablet: Device<Model>) {
        let phone = try makeDevice(Model.self, configure: configure)
        let tablet = try makeDevice(Model.self)
        try await phone.engine.upload(models)
        try await phone.engine.sync()
        try await tablet.engine.sync()
        try await show(phone, tablet)
        pass()
        return (phone, tablet)
    }

    /// Lets the apps on the devices accept and show all changes.
    func show<Model>(_ devices: Device<Model>...) async throws {
        for device in devices {
            _ = try await device.drain()
            device.events.clear()
        }
    }

    /// A device whose disk can lose power.
    func makeDevice<Model>(_ model: Model.Type, on disk: SimulatedFileSystem) throws -> Device<Model> {
        try makeDevice(model) { $0.fileSystem = disk }
    }

    /// The device after a power loss: a new engine on the contents that had been flushed.
    func crash<Model>(
        _ device: Device<Model>,
        on disk: SimulatedFileSystem,
        keeping survivors: SimulatedDisk.Survivors = .onlySynced
    ) async throws -> (device: Device<Model>, disk: SimulatedFileSystem) {
        let left = disk.crashed(keeping: survivors)
        try await device.engine.close()
        return (try makeDevice(Model.self, on: left), left)
    }

    /// Sends one request directly to the database, as another device.
    @discardableResult
    func serverModify(
        _ device: ScriptedDatabase,
        saving records: [(name: String, type: String, fields: [String: RecordValue])] = [],
        deleting names: [String] = [],
        zone: String = "Item"
    ) async throws -> ModifyRecordsResult {
        let zoneID = ZoneID(zoneName: zone)
        _ = try await device.base.modifyRecordZones(saving: [RecordZone(zoneID: zoneID)], deleting: [])
        let result = try await device.base.modifyRecords(
            saving: records.map { name, type, fields in
                let id = RecordID(recordName: name, zoneID: zoneID)
                return Record(recordType: type, recordID: id, fields: fields.withoutEmptyLists)
            },
            deleting: names.map { RecordID(recordName: $0, zoneID: zoneID) },
            savePolicy: .allKeys,
            atomically: false
        )
        for (id, outcome) in result.saveResults {
            if case .failure(let error) = outcome { XCTFail("\(id.recordName): \(error)") }
        }
        return result
    }

    /// Adds this number of records directly to the zone.
    func fill(_ database: ScriptedDatabase, _ count: Int) async throws {
        for start in stride(from: 0, to: count, by: 400) {
            let names = (start..<min(start + 400, count)).map { "r-\($0)" }
            try await serverModify(
                database,
                saving: names.map { ($0, "Item", ["id": .string($0), "title": "", "count": 0]) }
            )
        }
    }

}

extension Device {
    /// Takes and accepts changes until no more than this number of records is left to deliver.
    func drain(
        leaving count: Int,
        file: StaticString = #filePath,
        line: UInt = #line
    ) async throws -> [ModelChange<Model>] {
        _ = try await engine.diagnostics()
        let taken = Locked<[ModelChange<Model>]>([])
        let changes = engine.changes
        let loop = Task {
            for await change in changes { taken.withLock { $0.append(change) } }
        }
        // An element that the loop still has is told, but not accepted: a loop that ends now would get it again.
        await engine.reach("the changes are taken", file: file, line: line) {
            $0.undeliveredCount <= count && $0.machine?.state.summary.isFollowed == true
                && $0.machine?.delivering.streams.contains { $0.kind == .changes && $0.stage == .holding }
                    == false
        }
        loop.cancel()
        await loop.value
        return taken.withLock { $0 }
    }

    /// Takes the next element without accepting it, like an app that crashes while it handles the element.
    func peek() async -> ModelChange<Model>? {
        let changes = engine.changes
        for await change in changes { return change }
        return nil
    }

    /// The discarded changes, according to the events.
    func discarded() -> [(name: String, reason: DiscardReason)] {
        events.all.compactMap {
            if case .discarded(let name, _, let reason) = $0 { (name, reason) } else { nil }
        }
    }
}
