import Foundation
import XCTest

@testable import CodableSync

/// The error of a call says what failed, which records it is about, until when to wait, and why the cloud
/// failed.
final class CallErrorScenarios: EngineScenario {
    /// Asserts each value of the error that a call throws, and texts in its message.
    private func assertError(
        _ code: SyncError.Code,
        about names: [String] = [],
        until date: Date? = nil,
        from cloudError: CloudError? = nil,
        saying texts: [String],
        line: UInt = #line,
        _ call: () async throws -> Void
    ) async {
        do {
            try await call()
            XCTFail("nothing was thrown", line: line)
        } catch {
            guard let error = error as? SyncError else { return XCTFail("\(error)", line: line) }
            XCTAssertEqual(error.code, code, line: line)
            XCTAssertEqual(error.recordNames, names, line: line)
            XCTAssertEqual(error.retryDate, date, line: line)
            XCTAssertEqual(error.cloudError, cloudError, line: line)
            for text in texts { XCTAssertTrue(error.message.contains(text), "\(text): \(error)", line: line) }
            XCTAssertTrue(
                error.message.hasSuffix(".") || error.message.hasSuffix(")"),
                "\(error)",
                line: line
            )
        }
    }

    // MARK: Models and records

    func testInvalidModelsAreAllNamedWithTheirReasons() async throws {
        let phone = try makeDevice(Note.self)
        let engine = phone.engine
        try await engine.upload(Note("a"))
        let texts = ["Nothing was queued", "_x: ", "underscore"]
        await assertError(.invalidModels, about: ["_x", "_y"], saying: texts + ["_y: "]) {
            try await engine.upload([Note("_x"), Note("fine"), Note("_y")])
        }
        await assertError(.invalidModels, saying: ["a model: ", "model 2 of 2"]) {
            try await engine.upload([Note("fine"), Note("")])
        }
        await assertError(.invalidModels, about: ["_x"], saying: texts) {
            try await engine.uploadOnce { [Note("_x")] }
        }
        await assertError(.invalidModels, about: ["_x"], saying: texts) {
            try await engine.delete(named: ["_x"])
        }
        await assertError(.invalidModels, about: ["_x"], saying: texts) {
            try await engine.upload(Note("_x"), editedFrom: nil)
        }
        let renaming = ["a: ", #""b""#, "cannot rename a record"]
        await assertError(.invalidModels, about: ["a"], saying: renaming) {
            try await engine.edit(named: "a") { $0.id = "b" }
        }
        await assertError(.invalidModels, about: ["b"], saying: [#""a""#, #""b""#, "cannot rename"]) {
            try await engine.upload(Note("b"), editedFrom: Note("a"))
        }
        let pending = try await phone.pendingNames()
        XCTAssertEqual(pending, ["a"])
    }

    /// Two names that Swift's strings treat as equal are two names.
    func testAnInvalidNameThatEqualsAValidOneIsNamed() async throws {
        let phone = try makeDevice(Note.self)
        let engine = phone.engine
        try await engine.upload(Note("K"))
        for names in [["K", "\u{212A}"], ["\u{212A}", "K"]] {
            await assertError(.invalidModels, about: ["\u{212A}"], saying: ["Nothing was queued"]) {
                try await engine.delete(named: names)
            }
        }
        let models = try await engine.models(named: ["\u{212A}", "K"])
        XCTAssertEqual(models, [Note("K")])
    }

    func testAMissingRecordIsNamed() async throws {
        let phone = try makeDevice(Note.self)
        let engine = phone.engine
        try await engine.upload([Note("a"), Note("deleted")])
        try await engine.delete(named: ["deleted"])
        for name in ["gone", "deleted"] {
            let texts = ["\"\(name)\"", "Upload the model to create it"]
            await assertError(.recordNotFound, about: [name], saying: texts) {
                try await engine.edit(named: name) { $0.count = 1 }
            }
            await assertError(.recordNotFound, about: [name], saying: texts) {
                try await engine.edit(Note(name)) { $0.count = 1 }
            }
            await assertError(.recordNotFound, about: [name], saying: texts) {
                try await engine.edit([Note("a"), Note(name)]) { $0.count = 1 }
            }
        }
        let model = try await engine.model(named: "a")
        XCTAssertEqual(model?.count, 0)
    }

    func testARecordThatCannotBeReadIsNamedWithTheReason() async throws {
        withoutSchema()
        let phone = try makeDevice(Note.self)
        try await serverSave("a", ["id": "a", "title": 7])
        try await phone.engine.sync()
        let engine = phone.engine
        let texts = [#""a""#, "so it cannot edit it", "title"]
        await assertError(.recordUndecodable, about: ["a"], saying: texts) {
            try await engine.edit(named: "a") { $0.count = 1 }
        }
        await assertError(.recordUndecodable, about: ["a"], saying: texts) {
            try await engine.edit(Note("a"), ifMissing: .create) { $0.count = 1 }
        }
        await assertError(.recordUndecodable, about: ["a"], saying: texts) {
            try await engine.upload(Note("a", "mine"), editedFrom: Note("a"))
        }
        let pending = try await phone.pendingNames()
        XCTAssertEqual(pending, [])
    }

    // MARK: The state on this device

    func testAFullDiskIsSaidWithThePlace() async throws {
        let files = HookedFileSystem(MemoryFileSystem())
        let phone = try makeDevice(Note.self) { $0.fileSystem = files }
        try await phone.engine.upload(Note("a"))
        for (code, expected) in [(ENOSPC, SyncError.Code.storageFull), (EIO, .storageFailed)] {
            files.before { operation, path throws(FileError) in
                if operation == .append { throw FileError(operation, path, code: code) }
            }
            await assertError(expected, saying: ["/device", "journal"]) {
                try await phone.engine.upload(Note("b"))
            }
            files.before(nil)
        }
        try await phone.engine.upload(Note("b"))
    }

    func testAReadThatTheDiskRefusesIsSaidWithThePlace() async throws {
        let files = HookedFileSystem(MemoryFileSystem())
        let phone = try makeDevice(Note.self) { $0.fileSystem = files }
        try await phone.engine.upload(Note("a"))
        try await phone.restart()
        _ = try await phone.engine.diagnostics()
        files.before { operation, path throws(FileError) in
            if operation == .read { throw FileError(operation, path, code: EIO) }
        }
        for call in [
            { try await phone.engine.model(named: "a") != nil },
            { try await !phone.engine.allModels().isEmpty },
            { try await !phone.engine.pendingChanges().isEmpty },
            { try await phone.engine.edit(named: "a") { $0.count = 1 }.before.count == 0 },
        ] {
            await assertError(.storageFailed, saying: ["/device", "journal"]) { _ = try await call() }
        }
        files.before(nil)
        let model = try await phone.engine.model(named: "a")
        XCTAssertEqual(model, Note("a"))
    }

    func testAStateInUseIsSaidWithTheRemedy() async throws {
        let phone = try makeDevice(Note.self)
        try await phone.engine.upload(Note("a"))
        let second = SyncEngine<Note>(database: phone.database, configuration: phone.configuration)
        await assertError(.stateInUse, saying: ["in use by", "Close that engine first"]) {
            try await second.upload(Note("b"))
        }
    }

    func testAWrongConfigurationNamesTheSetting() async throws {
        let phone = try makeDevice(Note.self) { $0.zoneName = "_x" }
        await assertError(.configuration, saying: ["zoneName", "_x"]) {
            try await phone.engine.upload(Note("a"))
        }
        let files = MemoryFileSystem()
        let first = try makeDevice(Note.self) { $0.fileSystem = files }
        try await first.engine.upload(Note("a"))
        try await first.engine.close()
        let other = try makeDevice(Note.self) {
            $0.fileSystem = files
            $0.zoneName = "Other"
        }
        await assertError(.configuration, saying: ["storage", "Other", "/device"]) {
            try await other.engine.upload(Note("a"))
        }
    }

    // MARK: The cloud

    func testAWaitThatTheServerOrderedHasItsEnd() async throws {
        let phone = try makeDevice(Note.self)
        try await phone.engine.sync()
        let until = clock.now.wall.addingTimeInterval(30)
        phone.database.failNext(.modify, .requestRateLimited, retryAfter: .seconds(30))
        try await phone.engine.upload(Note("a"))
        let engine = phone.engine
        let ordered = CloudError(.requestRateLimited, retryAfter: .seconds(30))
        await assertError(.cloud, until: until, from: ordered, saying: [ordered.description]) {
            try await engine.sync()
        }
        for _ in 0..<2 {
            await assertError(.waiting, until: until, saying: ["asked to wait", "Try again then"]) {
                try await engine.sync()
            }
        }
        await assertError(.waiting, until: until, saying: []) { try await engine.fetchChanges() }
        await assertError(.waiting, until: until, saying: []) { try await engine.sendChanges() }
    }

    func testTheCloudsErrorIsCarried() async throws {
        let phone = try makeDevice(Note.self)
        let engine = phone.engine
        try await engine.sync()
        let lost = CloudError(.networkFailure)
        phone.database.failNext(.fetch, .networkFailure)
        await assertError(.cloud, from: lost, saying: [lost.description, "No edit is lost"]) {
            try await engine.fetchChanges()
        }
        try await engine.upload(Note("a"))
        let own = CloudError(.serviceUnavailable, message: "The service is being repaired.")
        phone.database.failAlways(.modify, own)
        await assertError(.cloud, from: own, saying: [own.description]) { try await engine.sendChanges() }
        await assertError(.cloud, from: own, saying: [own.description]) { try await engine.sync() }
    }

    func testAMissingAccountIsTheCloudsError() async throws {
        let phone = try makeDevice(Note.self)
        phone.database.setAccount(.noAccount)
        let missing = CloudError(.notAuthenticated)
        await assertError(.cloud, from: missing, saying: ["when the user signs in"]) {
            try await phone.engine.sync()
        }
    }

    func testAPurgeAsksForADecision() async throws {
        let cloud = FakeCloud(clock: clock)
        let phone = Device<Note>(cloud.database(), clock: clock)
        let engine = phone.engine
        try await engine.upload(Note("a"))
        try await engine.sync()
        try cloud.purgeZone(ZoneID(zoneName: "Item"))
        for _ in 0..<2 {
            await assertError(.waitingForDecision, saying: ["resolvePurge", "removed the data"]) {
                try await engine.sync()
            }
        }
        try await engine.resolvePurge(.uploadAgain)
        try await engine.sync()
    }

    // MARK: The engine

    func testAStoppedAndAClosedEngineSayWhatToDo() async throws {
        let phone = try makeDevice(Note.self)
        let engine = phone.engine
        try await engine.start()
        await engine.stop()
        for call in [
            { try await engine.sync() }, { try await engine.sendChanges() },
            { try await engine.fetchChanges() },
        ] {
            await assertError(.stopped, saying: ["stopped", "start"]) { _ = try await call() }
        }
        try await engine.close()
        let calls: [() async throws -> Void] = [
            { _ = try await engine.model(named: "a") }, { _ = try await engine.models(named: ["a"]) },
            { _ = try await engine.presence(named: "a") }, { try await engine.retry(named: ["a"]) },
            { try await engine.discard(named: ["a"]) },
            { try await engine.edit([Note("a")]) { $0.count = 1 } },
            { try await engine.resolvePurge(.removeLocal) }, { try await engine.resync() },
        ]
        for call in calls { await assertError(.closed, saying: ["closed", "Create a new one"], call) }
    }
}
