import XCTest

@testable import CodableSync

/// Scenarios, group J: values of all kinds, synced from one device to another.
class EvolutionScenariosValues: EngineScenario {
    /// The reason why an upload is rejected.
    private func refusal<Model: RecordCodable>(_ model: Model) async throws -> String {
        let device = Device<Note>(try makeDevice(Note.self).database.base, clock: clock)
        let engine = SyncEngine<Model>(database: device.database, configuration: device.configuration)
        var reason = ""
        do {
            try await engine.upload(model)
        } catch let error as SyncError where error.code == .invalidModels {
            XCTAssertEqual(error.recordNames, [model.recordName])
            reason = error.message
        }
        let pending = try await engine.pendingChanges()
        XCTAssertEqual(pending.count, 0)
        try await engine.close()
        return reason
    }

    /// EV-12.
    func testFiniteNumbersArriveExactlyAndOthersAreRejected() async throws {
        let numbers: [Double] = [
            0.0, -0.0, .leastNonzeroMagnitude, -.leastNonzeroMagnitude, .leastNormalMagnitude / 2,
            .greatestFiniteMagnitude, -.greatestFiniteMagnitude, 0.1,
        ]
        let (phone, tablet) = (try makeDevice(Box<Double>.self), try makeDevice(Box<Double>.self))
        try await phone.engine.upload(numbers.enumerated().map { Box(id: "n-\($0)", value: $1) })
        try await phone.restart()
        try await phone.engine.sync()
        try await tablet.engine.sync()
        for (index, number) in numbers.enumerated() {
            let model = try await tablet.engine.model(named: "n-\(index)")
            XCTAssertEqual(model?.value.bitPattern, number.bitPattern, "\(number)")
        }
        for (number, text) in [(Double.nan, "nan"), (.infinity, "inf"), (-.infinity, "-inf")] {
            let reason = try await refusal(Box(id: "a", value: number))
            XCTAssertTrue(reason.contains("value") && reason.contains(text), reason)
        }
    }

    /// EV-13.
    func testIntegersArriveOrAreRejected() async throws {
        let (phone, tablet) = (try makeDevice(Box<Int64>.self), try makeDevice(Box<Int64>.self))
        try await phone.engine.upload([Box(id: "min", value: .min), Box(id: "max", value: .max)])
        try await phone.restart()
        try await phone.engine.sync()
        try await tablet.engine.sync()
        let models = try await tablet.engine.allModels()
        XCTAssertEqual(models, [Box(id: "max", value: .max), Box(id: "min", value: .min)])
        let reason = try await refusal(Box(id: "a", value: UInt64(Int64.max) + 1))
        XCTAssertTrue(reason.contains("\"value\"") && reason.contains("Int64"), reason)
    }

    /// EV-15.
    func testEmptyValuesExceptListsArriveAndDifferFromNil() async throws {
        let full = Empties(id: "a", text: "", list: [], data: Data(), nested: .some(""), lists: [[]])
        let none = Empties(id: "b")
        let (phone, tablet) = (try makeDevice(Empties.self), try makeDevice(Empties.self))
        try await phone.engine.upload([full, none])
        try await phone.restart()
        try await phone.engine.sync()
        try await tablet.engine.sync()
        let models = try await tablet.engine.allModels()
        // An empty list is stored as no field.
        var saved = full
        saved.list = nil
        XCTAssertEqual(models, [saved, none])
        // Setting the values back to nil is a change as well.
        try await tablet.engine.upload(Empties(id: "a"))
        try await settle(tablet, phone)
        let cleared = try await phone.engine.model(named: "a")
        XCTAssertEqual(cleared, Empties(id: "a"))
    }

    /// EV-16.
    func testModelsThatDoNotEncodeKeyedFieldsAreRejected() async throws {
        let single = try await refusal(SingleValue(id: "a"))
        XCTAssertTrue(single.contains("single value"), single)
        let array = try await refusal(Unkeyed(id: "a"))
        XCTAssertTrue(array.contains("unkeyed"), array)
    }

    /// EV-17.
    func testAClassHierarchyArrives() async throws {
        let (phone, tablet) = (try makeDevice(Holder.self), try makeDevice(Holder.self))
        try await phone.engine.upload(Holder(id: "a", derived: Derived(name: "name", count: 7)))
        try await phone.engine.sync()
        try await tablet.engine.sync()
        let model = try await tablet.engine.model(named: "a")
        XCTAssertEqual(model?.derived.name, "name")
        XCTAssertEqual(model?.derived.count, 7)
    }

    /// EV-18.
    func testAnotherIdIsAnotherRecord() async throws {
        let (phone, tablet) = try await makePair(Note("old", "title"))
        var renamed = try await phone.engine.model(named: "old")
        renamed?.id = "new"
        try await phone.engine.upload(XCTUnwrap(renamed))
        try await settle(phone, tablet)
        let both = try await tablet.engine.allModels()
        XCTAssertEqual(both, [Note("new", "title"), Note("old", "title")])
        try await phone.engine.delete(named: ["old"])
        try await settle(phone, tablet)
        try await assertEqualEverywhere(phone, tablet)
        let one = try await tablet.engine.allModels()
        XCTAssertEqual(one, [Note("new", "title")])
    }

    /// EV-19.
    func testTwoModelsWithOneNameInOneZoneFailAtTheStart() async throws {
        let first = try makeDevice(ModuleA.Thing.self)
        try await first.engine.start()
        let files = first.files
        let second = try makeDevice(ModuleB.Thing.self) { $0.fileSystem = files }
        do {
            try await second.engine.start()
            XCTFail("Both engines opened the zone \"Thing\".")
        } catch let error as SyncError where error.code == .stateInUse {
        }
        do {
            try await second.engine.upload(ModuleB.Thing(id: "a"))
            XCTFail("The upload should fail.")
        } catch let error as SyncError where error.code == .stateInUse {
        }
    }
}

private struct Box<Value: Codable & Sendable & Equatable>: RecordCodable, Equatable {
    static var recordType: String { "Box" }

    var id: String
    var value: Value
    var recordName: String { id }

    static func resolveConflict(_ conflict: Conflict<Self>) throws -> Self? { conflict.server }
}

private struct Empties: RecordCodable, Equatable, Identifiable {
    var id: String
    var text: String?
    var list: [String]?
    var data: Data?
    var nested: String??
    var lists: [[Int]]?

    static func resolveConflict(_ conflict: Conflict<Self>) throws -> Self? { conflict.server }
}

private struct SingleValue: RecordCodable, Identifiable {
    var id: String

    init(id: String) { self.id = id }
    init(from decoder: any Decoder) throws {
        id = try decoder.singleValueContainer().decode(String.self)
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(id)
    }
    static func resolveConflict(_ conflict: Conflict<Self>) throws -> Self? { conflict.server }
}

private struct Unkeyed: RecordCodable, Identifiable {
    var id: String

    init(id: String) { self.id = id }
    init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        id = try container.decode(String.self)
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(id)
    }
    static func resolveConflict(_ conflict: Conflict<Self>) throws -> Self? { conflict.server }
}

/// A class hierarchy; `@unchecked Sendable` holds because nothing changes after `init`.
private class Base: Codable, @unchecked Sendable {
    let name: String

    init(name: String) { self.name = name }
}

private final class Derived: Base, @unchecked Sendable {
    private enum CodingKeys: CodingKey { case count }

    let count: Int

    init(name: String, count: Int) {
        self.count = count
        super.init(name: name)
    }

    required init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        count = try container.decode(Int.self, forKey: .count)
        try super.init(from: container.superDecoder())
    }

    override func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(count, forKey: .count)
        try super.encode(to: container.superEncoder())
    }
}

private struct Holder: RecordCodable, Equatable, Identifiable {
    var id: String
    var derived: Derived

    static func == (left: Holder, right: Holder) -> Bool {
        left.id == right.id && left.derived.name == right.derived.name
            && left.derived.count == right.derived.count
    }
    static func resolveConflict(_ conflict: Conflict<Self>) throws -> Self? { conflict.server }
}

/// Two modules that do not know about each other.
enum ModuleA {
    struct Thing: RecordCodable, Equatable, Identifiable {
        var id: String
        var size = 1

        static func resolveConflict(_ conflict: Conflict<Self>) throws -> Self? { conflict.server }
    }
}

enum ModuleB {
    struct Thing: RecordCodable, Equatable, Identifiable {
        var id: String
        var weight = "heavy"

        static func resolveConflict(_ conflict: Conflict<Self>) throws -> Self? { conflict.server }
    }
}
