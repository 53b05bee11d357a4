import XCTest

@testable import CodableSync

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
