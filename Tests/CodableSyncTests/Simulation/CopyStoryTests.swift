import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// Random calls of an app that keeps its own copy of one record, beside another device.
///
/// Each field has one writer: the app's copy, its edits, or the other device. So no field is ever in conflict,
/// and each ends with what its writer wrote last, however often it was reverted.
final class CopyStoryTests: EngineScenario {
    func testEachFieldEndsWithTheLastValueOfItsWriter() async throws {
        for seed in try Seeds.named(first: 4, of: 0..<400) {
            try await CopyStory<PlainCopy>(self, seed).tell()
        }
    }

    func testEachFieldOfAModelWithSystemFieldsEndsWithTheLastValueOfItsWriter() async throws {
        for seed in try Seeds.named(first: 4, of: 0..<400) {
            try await CopyStory<TaggedCopy>(self, seed).tell()
        }
    }
}

/// Whether steps are printed as they happen: `LOG=1` in the environment.
private let isLogging = ProcessInfo.processInfo.environment["LOG"] != nil

/// One story.
private final class CopyStory<Model: CopyModel> {
    private let scenario: CopyStoryTests
    private let seed: UInt64
    private var random: SplitMix64
    private let phone: Device<Model>
    private let tablet: Device<Model>
    /// What the app on the phone has.
    private var copy: Model
    private var expected: Model
    private var log: [String] = []
    private var isOffline = false

    init(_ scenario: CopyStoryTests, _ seed: UInt64) throws {
        self.scenario = scenario
        self.seed = seed
        random = SplitMix64(seed: seed)
        let cloud = FakeCloud(clock: scenario.clock)
        phone = Device(cloud.database(user: "alice"), clock: scenario.clock)
        tablet = Device(cloud.database(user: "alice"), clock: scenario.clock)
        copy = Model(id: "A")
        expected = copy
    }

    func tell() async throws {
        say("Seed \(seed), \(Model.self)")
        if chance(2) {
            try await tablet.engine.upload(copy)
            try await tablet.engine.sync()
            try await phone.engine.sync()
            try await read()
        } else {
            try await phone.engine.upload(copy)
            try await phone.engine.sync()
            try await tablet.engine.sync()
        }
        scenario.pass()
        for _ in 0..<30 { try await step() }
        phone.database.failAlways(.modify, nil)
        for engine in [phone.engine, tablet.engine] {
            do { _ = try await engine.sync() } catch let error as SyncError where error.code == .cloud {}
        }
        try await scenario.settle(phone, tablet)
        let server = try await tablet.engine.model(named: "A")
        let shown = try await phone.engine.model(named: "A")
        let values = [server?.values, shown?.values]
        let events = phone.events.all.map { "\($0)" }.filter { $0.contains("onflict") }
        let told = "seed \(seed), \(Model.self):\n" + (log + events).joined(separator: "\n")
        XCTAssertEqual(values, [expected.values, expected.values], told)
        try await phone.engine.close()
        try await tablet.engine.close()
    }

    private func say(_ line: String) {
        log.append(line)
        if isLogging { FileHandle.standardError.write(Data("\(line)\n".utf8)) }
    }

    private func chance(_ count: UInt64) -> Bool { random.next() % count == 0 }
    private func value() -> Int { Int(random.next() % 3) }

    private func step() async throws {
        if chance(3) { scenario.pass() }
        switch random.next() % 12 {
        case 0, 1, 2: try await call()
        case 3: try await editOnTablet()
        case 4:
            say("fetches")
            // The clock may have moved on while a request of the engine's own was under way.
            do { _ = try await phone.engine.fetchChanges() } catch let error as SyncError
                where error.code == .cloud
            {}
        case 5: try await send()
        case 6: try await sendDuringCalls()
        case 7: try await read()
        case 8, 9: try await drain()
        case 10:
            isOffline = chance(2)
            say(isOffline ? "goes offline" : "goes online")
            phone.database.failAlways(.modify, isOffline ? CloudError(.networkUnavailable) : nil)
        default:
            say("restarts")
            try await phone.restart()
        }
    }

    private func call() async throws {
        let value = value()
        switch random.next() % 3 {
        case 0 where Model.carriesTag:
            copy.uploaded = value
            expected.uploaded = value
            say("uploads \(copy.values)")
            try await phone.engine.upload(copy)
        case 0, 1:
            let original = copy
            copy.uploaded = value
            expected.uploaded = value
            say("drafts \(copy.values)")
            try await phone.engine.upload(copy, editedFrom: original)
        default:
            expected.edited = value
            say("edits \(value)")
            try await phone.engine.edit(named: "A") { $0.edited = value }
            // A tag does not tell whether the copy was read before or after this.
            if Model.carriesTag { copy.edited = value }
        }
    }

    private func editOnTablet() async throws {
        // A copy is at most one version of another device old.
        if Model.carriesTag { try await read() }
        let value = value()
        expected.others = value
        say("the tablet edits \(value)")
        try await tablet.engine.edit(named: "A") { $0.others = value }
        do { _ = try await tablet.engine.sync() } catch let error as SyncError where error.code == .cloud {}
    }

    private func send() async throws {
        let losesAnswer = try await sendsSomething() && chance(3)
        if losesAnswer { phone.database.plan(.modify, .loseAnswer) }
        say(losesAnswer ? "sends, without an answer" : "sends")
        do { _ = try await phone.engine.sendChanges() } catch let error as SyncError
            where error.code == .cloud
        {}
        phone.database.clearPlans()
    }

    /// Whether the next request that sends has something to send.
    private func sendsSomething() async throws -> Bool {
        if isOffline { return false }
        return try await !phone.engine.pendingChanges().isEmpty
    }

    private func sendDuringCalls() async throws {
        guard try await sendsSomething() else { return }
        let gate = Gate()
        phone.database.plan(.modify, chance(2) ? .holdBefore(gate) : .holdAfter(gate))
        say("sends, meanwhile:")
        let engine = phone.engine
        let sending = Task {
            do { _ = try await engine.sendChanges() } catch let error as SyncError where error.code == .cloud
            {}
            // The edit may have been equal to the cloud's version, so that nothing was sent.
            gate.open()
            try await gate.pass()
        }
        await gate.reached()
        for _ in 0..<3 where chance(2) { try await call() }
        if chance(2) { try await read() }
        if chance(2) { try await drain() }
        gate.open()
        try await sending.value
        phone.database.clearPlans()
        say("has sent")
    }

    private func read() async throws {
        copy = try await phone.engine.model(named: "A") ?? copy
        say("reads \(copy.values)")
    }

    private func drain() async throws {
        for change in try await phone.drain() {
            copy = change.models.last ?? copy
            say("gets \(copy.values)")
        }
    }
}

private protocol CopyModel: RecordCodable, Equatable {
    init(id: String)
    /// Written by uploads and drafts of the app's copy.
    var uploaded: Int { get set }
    /// Written by edits.
    var edited: Int { get set }
    /// Written by the other device.
    var others: Int { get set }
    static var carriesTag: Bool { get }
}

extension CopyModel {
    fileprivate var values: [Int] { [uploaded, edited, others] }
}

private struct PlainCopy: CopyModel {
    static var recordType: String { "Item" }
    static var carriesTag: Bool { false }

    var id: String
    var uploaded = 0
    var edited = 0
    var others = 0

    var recordName: String { id }

    init(id: String) { self.id = id }

    static func resolveConflict(_ conflict: Conflict<PlainCopy>) throws -> PlainCopy? {
        try conflict.merged()
    }
}

private struct TaggedCopy: CopyModel, SystemFieldsStoring {
    static var recordType: String { "Item" }
    static var carriesTag: Bool { true }

    var id: String
    var uploaded = 0
    var edited = 0
    var others = 0
    var systemFields: Data?

    var recordName: String { id }

    init(id: String) { self.id = id }

    static func resolveConflict(_ conflict: Conflict<TaggedCopy>) throws -> TaggedCopy? {
        try conflict.merged()
    }
}
