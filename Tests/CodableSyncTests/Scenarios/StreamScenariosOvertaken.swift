import XCTest

@testable import CodableSync

/// A newer change of a record arrives while an element with the record is being decoded.
final class StreamScenariosOvertaken: EngineScenario {
    /// A device whose stream waits for an element that is being decoded.
    private func makeHeld() async throws -> (
        phone: Device<HeldItem>, hold: DecodingHold, next: Task<ModelChange<HeldItem>?, Never>
    ) {
        let phone = try makeDevice(HeldItem.self)
        try await serverSave("a", ["id": "a", "title": "theirs"])
        try await phone.engine.sync()
        let hold = DecodingHold.next(of: "a")
        let changes = phone.engine.changes
        let next = Task { () -> ModelChange<HeldItem>? in
            for await change in changes { return change }
            return nil
        }
        await hold.reached()
        return (phone, hold, next)
    }

    /// I-30: otherwise the app would show a record that was deleted.
    func testARecordIsNotDeliveredAfterItsDeletionReturned() async throws {
        let (phone, hold, next) = try await makeHeld()
        try await phone.engine.delete(named: ["a"])
        hold.release()
        // The next change is delivered instead.
        try await serverSave("b", ["id": "b", "title": "b"])
        try await phone.engine.sync()
        let change = await next.value
        XCTAssertEqual(change, .updated([HeldItem("b", "b")]))
    }

    func testAnOlderVersionIsNotDeliveredAfterAnUploadReturned() async throws {
        let (phone, hold, next) = try await makeHeld()
        pass()
        try await phone.engine.upload(HeldItem("a", "mine"))
        hold.release()
        try await phone.engine.sync()
        let change = await next.value
        XCTAssertNotEqual(change, .updated([HeldItem("a", "theirs")]))
        XCTAssertEqual(change?.models.map(\.title), ["mine"])
    }

    func testTheNewerOfTwoChangesIsDeliveredIfTheFirstIsStillBeingDecoded() async throws {
        let (phone, hold, next) = try await makeHeld()
        pass()
        try await serverSave("a", ["id": "a", "title": "newer"])
        try await phone.engine.sync()
        hold.release()
        let change = await next.value
        XCTAssertEqual(change, .updated([HeldItem("a", "newer")]))
    }

    func testTheRestOfAnElementIsDelivered() async throws {
        let phone = try makeDevice(HeldItem.self)
        for name in ["a", "b"] { try await serverSave(name, ["id": .string(name), "title": ""]) }
        try await phone.engine.sync()
        let hold = DecodingHold.next(of: "b")
        let changes = phone.engine.changes
        let next = Task { () -> ModelChange<HeldItem>? in
            for await change in changes { return change }
            return nil
        }
        await hold.reached()
        try await phone.engine.delete(named: ["a"])
        hold.release()
        let change = await next.value
        XCTAssertEqual(change, .updated([HeldItem("b")]))
    }
}
