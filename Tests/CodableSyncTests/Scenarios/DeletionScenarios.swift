import XCTest

@testable import CodableSync

/// Scenarios, group E: deletions, whether a fetch or a send finds the conflict.
class DeletionScenarios: EngineScenario {
    /// DL-01.
    func testTheSameDeletionOnTwoDevicesCausesNoEvents() async throws {
        let (phone, tablet) = try await makePair(Note("fetchFirst"), Note("sendFirst"))
        for order in SyncOrder.allCases {
            let name = order.rawValue
            try await phone.engine.delete(named: [name])
            try await tablet.engine.delete(named: [name])
            try await tablet.engine.sync()
            try await order.sync(phone)
            try await settle(phone, tablet)
            for (device, who) in [(phone, "phone"), (tablet, "tablet")] {
                let pending = try await device.engine.pendingChanges()
                XCTAssertEqual(pending, [], "\(name) \(who)")
                let told = try await device.drain()
                XCTAssertEqual(told, [], "\(name) \(who)")
                let isFailed = device.events.all.contains {
                    switch $0 {
                    case .failed, .parked: true
                    default: false
                    }
                }
                XCTAssertFalse(isFailed, "\(name) \(who)")
            }
            let server = try await serverRecords()
            XCTAssertNil(server[name], name)
        }
    }

    /// DL-02, DL-04.
    func testIfDeletionsWinTheRecordIsDeletedAndTheEditReported() async throws {
        let (phone, tablet) = try await makePair(Note("fetchFirst"), Note("sendFirst"))
        for order in SyncOrder.allCases {
            let name = order.rawValue
            try await phone.engine.upload(Note(name, "edited"))
            try await tablet.engine.delete(named: [name])
            try await tablet.engine.sync()
            try await order.sync(phone)
            let told = try await phone.drain()
            XCTAssertEqual(told, [.deleted([name])], name)
            let lost = try await editsOfDeleted(phone)
            XCTAssertEqual(lost.map(\.title), ["edited"], name)
            XCTAssertEqual(lost.map(\.kept), [false], name)
            phone.events.clear()
            try await settle(phone, tablet)
            let server = try await serverRecords()
            XCTAssertNil(server[name], name)
            try await assertEqualEverywhere(phone, tablet)
            let notes = try await phone.engine.diagnostics().notes
            XCTAssertTrue(notes.contains { $0.kind == .discarded && $0.recordName == name }, name)
        }
    }

    /// DL-03, DL-04.
    func testIfEditsWinTheRecordIsOnAllDevices() async throws {
        let (phone, tablet) = try await makePair(
            Item<ClientWins>("fetchFirst", "old", note: "note"),
            Item<ClientWins>("sendFirst", "old", note: "note")
        )
        for order in SyncOrder.allCases {
            let name = order.rawValue
            let edited = Item<ClientWins>(name, "edited", note: "note")
            try await phone.engine.upload(edited)
            try await tablet.engine.delete(named: [name])
            try await tablet.engine.sync()
            try await order.sync(phone)
            let kept = try await editsOfDeleted(phone)
            XCTAssertEqual(kept.map(\.kept), [true], name)
            phone.events.clear()
            try await settle(phone, tablet)
            for device in [phone, tablet] {
                let model = try await device.engine.model(named: name)
                XCTAssertEqual(model, edited, name)
            }
            let server = try await serverRecords()
            XCTAssertEqual(server[name]?.fields["note"], "note", name)
            let told = try await phone.drain()
            XCTAssertFalse(told.contains(.deleted([name])), name)
            try await assertEqualEverywhere(phone, tablet)
        }
    }

    private func editsOfDeleted<Model>(_ device: Device<Model>) async throws
        -> [(title: RecordValue?, kept: Bool)]
    {
        try await quiet(device)
        return device.events.all.compactMap {
            if case .editOfDeleted(_, let record, let kept) = $0 {
                (record.fields["title"], kept)
            } else {
                nil
            }
        }
    }

    /// DL-05.
    func testAPendingDeletionWinsOverAnEditElsewhereWithAnyPolicy() async throws {
        try await checkDeletionWins(Merging.self)
        try await checkDeletionWins(ClientWins.self)
        try await checkDeletionWins(ServerWins.self)
    }

    private func checkDeletionWins<Policy: ItemPolicy>(_ policy: Policy.Type) async throws {
        let (phone, tablet) = try await makePair(Item<Policy>("fetchFirst"), Item<Policy>("sendFirst"))
        for order in SyncOrder.allCases {
            let name = order.rawValue
            Calls.shared.reset(policy)
            try await phone.engine.delete(named: [name])
            try await tablet.engine.upload(Item<Policy>(name, "edited"))
            try await tablet.engine.sync()
            _ = try await tablet.drain()
            try await order.sync(phone)
            if order == .fetchFirst {
                // A deletion sent first has no change tag: this device never fetches the edit.
                try await quiet(phone)
                XCTAssertEqual(phone.discarded().map(\.reason), [.deletion], "\(policy)")
            }
            try await settle(phone, tablet)
            let phoneTold = try await phone.drain()
            XCTAssertEqual(phoneTold, [], "\(policy) \(name)")
            let tabletTold = try await tablet.drain()
            XCTAssertEqual(tabletTold, [.deleted([name])], "\(policy) \(name)")
            let server = try await serverRecords()
            XCTAssertNil(server[name], "\(policy) \(name)")
            try await assertEqualEverywhere(phone, tablet)
            XCTAssertEqual(Calls.shared.count(policy), 0, "\(policy) \(name)")
        }
    }

    /// DL-06.
    func testADeletedRecordDoesNotComeBackWithAnExpiredToken() async throws {
        let (phone, tablet) = try await makePair(Note("a"), Note("b"))
        try await phone.engine.delete(named: ["a"])
        try await phone.engine.sync()
        tablet.database.failNext(.fetch, .changeTokenExpired)
        try await tablet.engine.sync()
        let told = try await tablet.drain()
        XCTAssertEqual(told, [.deleted(["a"])])
        // The device that deleted the record does a full listing, too.
        phone.database.failNext(.fetch, .changeTokenExpired)
        try await phone.engine.sync()
        try await settle(phone, tablet)
        let server = try await serverRecords()
        XCTAssertEqual(server.keys.sorted(), ["b"])
        try await assertEqualEverywhere(phone, tablet)
        let phoneTold = try await phone.drain()
        XCTAssertEqual(phoneTold, [])
    }

    /// DL-08.
    func testAPendingDeletionAlsoDeletesARecreatedRecord() async throws {
        let (phone, tablet) = try await makePair(Note("fetchFirst"), Note("sendFirst"))
        for order in SyncOrder.allCases {
            let name = order.rawValue
            try await phone.engine.delete(named: [name])
            try await tablet.engine.delete(named: [name])
            try await tablet.engine.sync()
            try await tablet.engine.upload(Note(name, "anew"))
            try await tablet.engine.sync()
            try await order.sync(phone)
            try await settle(phone, tablet)
            let server = try await serverRecords()
            XCTAssertNil(server[name], name)
            try await assertEqualEverywhere(phone, tablet)
            let told = try await tablet.drain()
            XCTAssertEqual(told.last, .deleted([name]), name)
        }
    }

    /// DL-09.
    func testMoreThanAThousandDeletionsAreSentInBatches() async throws {
        let phone = try makeDevice(Note.self)
        let count = 1300
        try await fill(phone.database, count)
        try await phone.engine.sync()
        let names = try await phone.drain().flatMap(\.names)
        try await phone.engine.delete(named: names)
        let summary = try await phone.engine.sync()
        XCTAssertEqual(summary.deleted, count)
        XCTAssertEqual(summary.pending, 0)
        let limit = phone.database.limits.maximumItems
        XCTAssertTrue(phone.database.modifies.allSatisfy { $0.names.count <= limit })
        XCTAssertLessThanOrEqual(phone.database.modifies.count, count / limit + 1)
        let server = try await serverRecords()
        XCTAssertEqual(server.count, 0)
        let known = try await phone.engine.diagnostics().knownCount
        XCTAssertEqual(known, 0)
    }

    /// DL-10.
    func testDeletingAParkedModelEndsTheParkingAndDeletesTheServersCopy() async throws {
        let phone = try makeDevice(Note.self)
        try await phone.engine.upload(Note("a", "small"))
        try await phone.engine.sync()
        phone.database.failItem("a", CloudError(.limitExceeded))
        phone.database.failItem("b", CloudError(.limitExceeded))
        try await phone.engine.upload([Note("a", "large"), Note("b", "large")])
        try await phone.engine.sync()
        let parked = try await phone.engine.parkedChanges()
        XCTAssertEqual(parked.map(\.recordName).sorted(), ["a", "b"])
        XCTAssertEqual(parked.map(\.parkReason?.kind), [.tooLarge, .tooLarge])
        try await phone.engine.delete(named: ["a", "b"])
        let left = try await phone.engine.parkedChanges()
        XCTAssertEqual(left, [])
        try await phone.engine.sync()
        let server = try await serverRecords()
        XCTAssertEqual(server.count, 0)
        let pending = try await phone.engine.pendingChanges()
        XCTAssertEqual(pending, [])
    }

    /// DL-12.
    func testADeletionOfAnUnknownRecordIsHarmless() async throws {
        let (phone, tablet) = try await makePair(Note("a"))
        phone.database.changeFetchAnswers { page in
            var page = page
            let id = RecordID(recordName: "never", zoneID: ZoneID(zoneName: "Item"))
            page.deletions.append(ZoneChanges.Deletion(recordID: id, recordType: "Item"))
            return page
        }
        try await tablet.engine.upload(Note("b"))
        try await tablet.engine.delete(named: ["b"])
        try await tablet.engine.sync()
        try await tablet.engine.upload(Note("c"))
        try await tablet.engine.sync()
        try await phone.engine.sync()
        let told = try await phone.drain()
        XCTAssertEqual(told, [.updated([Note("c")])])
        // It does not affect a pending edit that creates the record, either.
        try await phone.engine.upload(Note("never", "new"))
        try await phone.engine.fetchChanges()
        try await phone.engine.sync()
        let server = try await serverRecords()
        XCTAssertEqual(server["never"]?.fields["title"], "new")
        try await settle(tablet)
        try await assertEqualEverywhere(tablet)
    }

    /// DL-13: in 25 random orders, or 100 in an exhaustive run.
    func testParentsAndChildrenCanBeDeletedInAnyOrder() async throws {
        let phone = try makeDevice(Leaf.self)
        var random = SplitMix64(seed: 13)
        let leaves = (0..<4).map { Leaf(id: "leaf-\($0)", branch: RecordReference("branch")) }
        let names = ["branch"] + leaves.map(\.id)
        for round in 0..<Cases.sample(10, of: 100) {
            try await phone.engine.upload([Leaf(id: "branch")] + leaves)
            try await phone.engine.sync()
            let before = phone.database.modifies.count
            let order = (names + [names[round % 5]]).shuffled(using: &random)
            let first = Int.random(in: 0...order.count, using: &random)
            try await phone.engine.delete(named: Array(order.prefix(first)))
            if Bool.random(using: &random) { try await phone.engine.sync() }
            try await phone.engine.delete(named: Array(order.dropFirst(first)))
            try await phone.engine.sync()
            let server = try await serverRecords("Leaf")
            XCTAssertEqual(server.count, 0, "round \(round)")
            let pending = try await phone.engine.pendingChanges()
            XCTAssertEqual(pending, [], "round \(round)")
            let requests = phone.database.modifies.dropFirst(before)
            for request in requests {
                XCTAssertEqual(Set(request.deletions).count, request.deletions.count, "round \(round)")
            }
        }
    }

    /// A deletion that the server rejected does not hide one by another device.
    func testADeletionElsewhereIsDeliveredAfterAnOwnOneWasRejected() async throws {
        let (phone, tablet) = try await makePair(Note("a", "Tea"))
        phone.database.failItem("a", CloudError(.permissionFailure))
        try await phone.engine.delete(named: ["a"])
        try await phone.engine.sync()
        try await tablet.engine.upload(Note("a", "Coffee"))
        try await tablet.engine.sync()
        try await phone.engine.sync()
        var told = try await phone.drain()
        XCTAssertEqual(told, [.updated([Note("a", "Coffee")])])
        try await tablet.engine.delete(named: ["a"])
        try await tablet.engine.sync()
        try await phone.engine.sync()
        told = try await phone.drain()
        XCTAssertEqual(told, [.deleted(["a"])])
    }
}

/// A model that is deleted with the record that it references.
private struct Leaf: RecordCodable, Equatable, Identifiable {
    var id: String
    var branch: RecordReference?

    static func resolveConflict(_ conflict: Conflict<Leaf>) throws -> Leaf? { conflict.latestEdit }
}

extension RecordReference {
    fileprivate init(_ name: String) {
        self.init(recordName: name, action: .deleteSelf)
    }
}
