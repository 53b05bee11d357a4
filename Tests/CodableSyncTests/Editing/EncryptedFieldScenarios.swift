import XCTest

@_spi(Server) @testable import CodableSync

private struct Secret: RecordCodable, Equatable, Identifiable {
    static let encryptedFields = ["text"]

    var id: String
    var text = ""
    var title = ""

    static func resolveConflict(_ conflict: Conflict<Secret>) throws -> Secret? { try conflict.merged() }
}

private struct Unencryptable: RecordCodable, Equatable, Identifiable {
    static let encryptedFields = ["owner"]

    var id: String
    var owner: RecordReference?

    static func resolveConflict(_ conflict: Conflict<Unencryptable>) throws -> Unencryptable? { nil }
}

/// `Secret` in a version of the app from before its field was encrypted.
private struct OlderSecret: RecordCodable, Equatable, Identifiable {
    static var recordType: String { "Secret" }

    var id: String
    var title = ""

    static func resolveConflict(_ conflict: Conflict<OlderSecret>) throws -> OlderSecret? { nil }
}

/// `Secret` in a version of the app that requires another field.
private struct StricterSecret: RecordCodable, Equatable, Identifiable {
    static var recordType: String { "Secret" }

    var id: String
    var required: Int

    static func resolveConflict(_ conflict: Conflict<StricterSecret>) throws -> StricterSecret? { nil }
}

/// `OlderSecret`, which names a field that is stored unencrypted.
private struct MistakenSecret: RecordCodable, Equatable, Identifiable {
    static var recordType: String { "Secret" }
    static let encryptedFields = ["title"]

    var id: String
    var title = ""

    static func resolveConflict(_ conflict: Conflict<MistakenSecret>) throws -> MistakenSecret? { nil }
}

/// How a device learns that it must upload everything again.
private enum ZoneLoss: CaseIterable {
    case keysReset, purged, unexplained
    /// The cloud was restored from a backup without the zone, and without the types of fields.
    case restored
}

/// Leaves out what is `nil`.
private struct Sparse: RecordCodable, Equatable, Identifiable {
    static let encryptedFields = ["text"]

    var id: String
    var text: String?
    var title = ""

    enum CodingKeys: CodingKey { case id, text, title }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        if let text { try container.encode(text, forKey: .text) }
        try container.encode(title, forKey: .title)
    }

    static func resolveConflict(_ conflict: Conflict<Sparse>) throws -> Sparse? { try conflict.merged() }
}

/// An engine names the fields to encrypt in each request, wherever the contents come from.
final class EncryptedFieldScenarios: EngineScenario {
    private func sent(by database: FakeDatabase) -> [Set<String>] {
        database.requests.flatMap(\.recordsToSave).map(\.encryptedFields)
    }

    func testEachSaveNamesTheFieldsToEncrypt() async throws {
        let cloud = FakeCloud()
        let database = cloud.database()
        let phone = Device<Secret>(database, clock: clock)
        let laptop = Device<Secret>(cloud.database(), clock: clock)
        try await phone.engine.upload(Secret(id: "a", text: "one"))
        try await phone.engine.sync()
        try await laptop.engine.sync()
        XCTAssertEqual(sent(by: database), [["text"]], "a creation")

        // The laptop is first, so the phone's edit meets a conflict, is merged and sent again.
        try await laptop.engine.edit(named: "a") { $0.title = "theirs" }
        try await laptop.engine.sync()
        database.clearRequests()
        try await phone.engine.edit(named: "a") { $0.text = "two" }
        try await phone.engine.sendChanges()
        try await phone.engine.sync()
        XCTAssertEqual(Set(sent(by: database)), [["text"]], "an edit and a resolved conflict")
        XCTAssertEqual(try cloud.models(Secret.self), [Secret(id: "a", text: "two", title: "theirs")])
    }

    func testEditsFromBeforeARestartNameTheFieldsToo() async throws {
        let database = FakeCloud().database()
        let phone = Device<Secret>(database, clock: clock)
        try await phone.engine.upload(Secret(id: "a", text: "one"))
        try await phone.restart()
        try await phone.engine.sync()
        XCTAssertEqual(sent(by: database), [["text"]])
    }

    func testAModelThatLeavesOutNilIsSentMergedAndFilledIn() async throws {
        let cloud = FakeCloud()
        let database = cloud.database()
        let phone = Device<Sparse>(database, clock: clock)
        let laptop = Device<Sparse>(cloud.database(), clock: clock)
        try await phone.engine.upload(Sparse(id: "a"))
        try await phone.engine.sync()
        try await laptop.engine.sync()
        try await laptop.engine.edit(named: "a") { $0.title = "theirs" }
        try await laptop.engine.sync()
        try await phone.engine.edit(named: "a") { $0.text = "mine" }
        try await phone.engine.sendChanges()
        try await phone.engine.sync()
        XCTAssertEqual(Set(sent(by: database)), [["text"]])
        XCTAssertEqual(try cloud.models(Sparse.self), [Sparse(id: "a", text: "mine", title: "theirs")])
    }

    func testEditsOfAnOlderVersionOfTheAppNameTheFieldsToo() async throws {
        let database = FakeCloud().database()
        let older = Device<OlderSecret>(database, clock: clock)
        try await older.engine.upload(OlderSecret(id: "a", title: "from before"))
        try await older.engine.close()
        let newer = Device<Secret>(database, clock: clock, files: older.files)
        try await newer.engine.sync()
        XCTAssertEqual(sent(by: database), [["text"]])
    }

    // MARK: Fields that only a newer version of the app names

    private let zone = ZoneID(zoneName: "Secret")

    /// A cloud with a record of the current version.
    private func cloud(with fields: [String: RecordValue] = [:]) throws -> (FakeCloud, backup: CloudLedger) {
        let clock = clock
        let cloud = FakeCloud(clock: clock)
        let backup = cloud.ledger
        try cloud.createZone(zone)
        let known: [String: RecordValue] = ["id": "a", "title": "t", "text": "private"]
        var record = Record(
            recordType: "Secret",
            recordID: RecordID(recordName: "a", zoneID: zone),
            fields: known.merging(fields) { $1 }
        )
        record.encryptedFields = ["text"]
        try cloud.put(record)
        return (cloud, backup)
    }

    /// Loses the zone, and lets a device upload its records again.
    private func lose<Model>(
        _ loss: ZoneLoss,
        of cloud: FakeCloud,
        _ backup: CloudLedger,
        on device: Device<Model>
    ) async throws {
        switch loss {
        case .keysReset: try cloud.resetEncryptedData(in: zone)
        case .purged: try cloud.purgeZone(zone)
        case .unexplained:
            device.database.hideReasons()
            try cloud.deleteZone(zone)
        case .restored: cloud.restore(backup)
        }
        do {
            try await device.engine.sync()
        } catch let error as SyncError where error.code == .waitingForDecision {
            try await device.engine.resolvePurge(.uploadAgain)
            try await device.engine.sync()
        }
    }

    private func assertIsEncrypted<Model>(
        in cloud: FakeCloud,
        after device: Device<Model>,
        title: RecordValue = "t",
        _ row: String,
        line: UInt = #line
    ) async throws {
        let pending = try await device.engine.pendingChanges()
        XCTAssertEqual(pending.map { $0.parkReason?.message ?? "pending" }, [], row, line: line)
        let found = try XCTUnwrap(cloud.records(in: zone)["a"], row, line: line)
        XCTAssertEqual(found.fields["text"], "private", row, line: line)
        XCTAssertEqual(found.fields["title"], title, row, line: line)
        XCTAssertEqual(found.encryptedFields, ["text"], row, line: line)
    }

    func testAnUnknownEncryptedFieldIsUploadedEncryptedAgain() async throws {
        for loss in ZoneLoss.allCases {
            for isEdited in [false, true] {
                let row = "\(loss), edited: \(isEdited)"
                let (cloud, backup) = try cloud()
                let older = Device<OlderSecret>(cloud.database(), clock: clock)
                try await older.engine.sync()
                try await older.restart()
                if isEdited { try await older.engine.edit(named: "a") { $0.title = "mine" } }
                try await lose(loss, of: cloud, backup, on: older)
                try await assertIsEncrypted(in: cloud, after: older, title: isEdited ? "mine" : "t", row)

                let newer = Device<Secret>(cloud.database(), clock: clock)
                try await newer.engine.sync()
                try await newer.engine.edit(named: "a") { $0.text += "!" }
                try await newer.engine.sync()
                let parked = try await newer.engine.parkedChanges()
                XCTAssertEqual(parked.count, 0, row)
                XCTAssertEqual(try cloud.models(Secret.self).map(\.text), ["private!"], row)
                try await older.engine.close()
                try await newer.engine.close()
            }
        }
    }

    /// The response to the save has only the fields that were sent.
    func testTheNamesOutliveASaveOfOtherFieldsAndASecondLoss() async throws {
        for loss in ZoneLoss.allCases {
            let (cloud, backup) = try cloud()
            cloud.options.savedFields = .sent
            let older = Device<OlderSecret>(cloud.database(), clock: clock)
            try await older.engine.sync()
            try await older.engine.edit(named: "a") { $0.title = "mine" }
            try await older.engine.sync()
            for round in 1...2 {
                try await older.restart()
                try await lose(loss, of: cloud, backup, on: older)
                try await assertIsEncrypted(in: cloud, after: older, title: "mine", "\(loss) \(round)")
            }
            try await older.engine.close()
        }
    }

    func testRecordsThatTheAppCannotReadAreUploadedEncryptedAgain() async throws {
        for loss in ZoneLoss.allCases {
            let (tooNew, backup) = try cloud(with: ["codableSyncSchema": 2])
            let older = Device<OlderSecret>(tooNew.database(), clock: clock)
            try await older.engine.sync()
            try await lose(loss, of: tooNew, backup, on: older)
            try await assertIsEncrypted(in: tooNew, after: older, "\(loss), too new")

            let (undecodable, copy) = try cloud()
            let stricter = Device<StricterSecret>(undecodable.database(), clock: clock)
            try await stricter.engine.sync()
            try await lose(loss, of: undecodable, copy, on: stricter)
            try await assertIsEncrypted(in: undecodable, after: stricter, "\(loss), undecodable")
            try await older.engine.close()
            try await stricter.engine.close()
        }
    }

    /// Two devices upload the same version again; the second meets a conflict without an ancestor.
    func testAConflictAfterALossKeepsTheFieldEncrypted() async throws {
        let (cloud, backup) = try cloud()
        let first = Device<OlderSecret>(cloud.database(), clock: clock)
        let second = Device<OlderSecret>(cloud.database(), clock: clock)
        for device in [first, second] { try await device.engine.sync() }
        pass()
        try await second.engine.edit(named: "a") { $0.title = "theirs" }
        try await lose(.restored, of: cloud, backup, on: first)
        try await second.engine.sync()
        for device in [first, second] { try await device.engine.sync() }
        try await assertIsEncrypted(in: cloud, after: second, title: "theirs", "conflict")
    }

    /// A model may name a field that is already stored unencrypted, by mistake.
    func testAnEditIsSentOnceTheModelNoLongerNamesAFieldByMistake() async throws {
        let (cloud, _) = try cloud()
        let mistaken = Device<MistakenSecret>(cloud.database(), clock: clock)
        try await mistaken.engine.sync()
        try await mistaken.engine.edit(named: "a") { $0.title = "mine" }
        try await mistaken.engine.upload(MistakenSecret(id: "b", title: "new"))
        try await mistaken.engine.sync()
        let parked = try await mistaken.engine.parkedChanges()
        XCTAssertEqual(parked.map(\.recordName), ["a", "b"])
        try await mistaken.engine.close()

        let mended = Device<OlderSecret>(cloud.database(), clock: clock, files: mistaken.files)
        try await mended.engine.retry(named: ["a", "b"])
        try await mended.engine.sync()
        try await assertIsEncrypted(in: cloud, after: mended, title: "mine", "mended")
        XCTAssertEqual(cloud.records(in: zone)["b"]?.encryptedFields, [])
    }

    func testAReferenceToEncryptIsRefusedAtTheUpload() async throws {
        let phone = Device<Unencryptable>(FakeCloud().database(), clock: clock)
        let model = Unencryptable(id: "a", owner: RecordReference(recordName: "b"))
        do {
            try await phone.engine.upload(model)
            XCTFail("it was queued")
        } catch let error as SyncError {
            XCTAssertEqual(error.code, .invalidModels)
            XCTAssertTrue(error.message.contains("\"owner\" has the kind reference"), error.message)
        }
        let pending = try await phone.engine.pendingChanges()
        XCTAssertEqual(pending.count, 0)
    }

    func testAFieldThatIsEncryptedLaterIsParked() async throws {
        let cloud = FakeCloud()
        let fields: [String: RecordValue] = ["id": "b", "text": "open", "title": ""]
        try cloud.createZone(ZoneID(zoneName: "Secret"))
        let id = RecordID(recordName: "b", zoneID: ZoneID(zoneName: "Secret"))
        try cloud.put(Record(recordType: "Secret", recordID: id, fields: fields))

        let phone = Device<Secret>(cloud.database(), clock: clock)
        try await phone.engine.upload(Secret(id: "a", text: "closed"))
        try await phone.engine.sync()
        let pending = try await phone.engine.pendingChanges()
        let message = pending.first?.parkReason?.message ?? ""
        XCTAssertTrue(message.contains("type string since"), message)
        XCTAssertTrue(message.contains("a value of type encrypted string"), message)
    }
}
