import Foundation
import XCTest

@testable import CodableSync

/// What `pendingChanges` says about each change.
final class PendingChangeTests: EngineScenario {
    func testAParkedChangeHasBothSidesAndTheReasonAndComesLast() async throws {
        let (phone, tablet) = try await makePair(Note("parked", "old"), Note("edited", "old"))
        let refusal = CloudError(.invalidArguments, message: "The field is not in the schema.")
        phone.database.failItemAlways("parked", refusal)
        try await phone.engine.edit(named: "parked") { $0.title = "mine" }
        try await phone.engine.sync()
        try await tablet.engine.edit(named: "parked") { $0.color = "theirs" }
        try await settle(tablet, phone)
        try await phone.engine.edit(named: "edited") { $0.title = "mine" }
        try await phone.engine.delete(named: ["deleted"])
        let pending = try await phone.engine.pendingChanges()
        XCTAssertEqual(pending.map(\.recordName), ["edited", "deleted", "parked"])
        XCTAssertEqual(pending.map(\.client?.title), ["mine", nil, "mine"])
        XCTAssertEqual(pending.map(\.server), [nil, nil, Note("parked", "old", color: "theirs")])
        XCTAssertEqual(pending.map(\.parkReason?.kind), [nil, nil, .refused])
        XCTAssertEqual(pending.map(\.isDeletion), [false, true, false])
        XCTAssertEqual(pending.prefix(2).map(\.stage), [.queued, .queued])
        XCTAssertEqual(pending.last?.stage, (pending.last?.parkReason).map { .parked($0) })
    }

    func testUploadOnceQueuesModelsOnceWithoutAnEditDateAndStartsNothing() async throws {
        let phone = try makeDevice(Note.self) { $0.automaticallySyncs = true }
        await phone.engine.stop()
        try await phone.engine.uploadOnce { [Note("old")] }
        try await phone.engine.uploadOnce { [Note("late")] }
        await phone.engine.waitUntilIdle()
        XCTAssertEqual(phone.database.totalCount, 0)
        try await phone.engine.upload(Note("new"))
        let pending = try await phone.engine.pendingChanges()
        XCTAssertEqual(pending.map(\.recordName), ["old", "new"])
        XCTAssertEqual(pending.map(\.edited), [nil, clock.now.wall])
        try await phone.engine.start()
        await phone.engine.waitUntilIdle()
        let left = try await phone.engine.pendingChanges()
        XCTAssertEqual(left, [])
    }
}
