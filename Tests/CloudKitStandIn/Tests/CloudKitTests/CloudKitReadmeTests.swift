import CloudKit
import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// The README's first model, as an app on an Apple platform has it.
private enum ReadmeModels {
    // begin model
    struct Landmark: RecordCodable, Identifiable {
        var id = UUID()
        var name: String
        var note: String?
        var isFavorite = false

        static func resolveConflict(_ conflict: Conflict<Landmark>) throws -> Landmark? {
            try conflict.merged()
        }
    }
    // end model
}

/// `SyncEngine<Landmark>()` is the user's private database of the app's default container.
final class CloudKitReadmeTests: XCTestCase {
    private typealias Landmark = ReadmeModels.Landmark

    private func text(_ file: URL) throws -> String {
        let lines = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
        return lines.map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
    }

    func testTheModelIsTheReadmes() throws {
        let file = URL(filePath: #filePath)
        let root = file.appending(path: "../../../../..").standardized
        let source = try text(file).components(separatedBy: "// begin model\n").dropFirst().last
        let model = try XCTUnwrap(source?.components(separatedBy: "// end model").first)
        XCTAssertTrue(model.hasPrefix("struct Landmark: RecordCodable"), model)
        XCTAssertTrue(try text(root.appending(path: "README.md")).contains(model), model)
    }

    private func makeEngine(on service: FakeCloudKit) -> SyncEngine<Landmark> {
        StandIn.use(service, for: StandIn.defaultContainer)
        var configuration = SyncConfiguration()
        configuration.storage = .inMemory
        return CloudKitDatabase.$bundleIdentifier.withValue("com.example.landmarks") {
            SyncEngine<Landmark>(configuration: configuration)
        }
    }

    func testTheFirstLineMakesAnEngineOfTheDefaultContainer() async {
        StandIn.use(FakeCloudKit(FakeCloud().database(user: "alice")), for: StandIn.defaultContainer)
        let engine = CloudKitDatabase.$bundleIdentifier.withValue("com.example.landmarks") {
            SyncEngine<Landmark>()
        }
        let database = await engine.core.database
        XCTAssertTrue(database is CloudKitDatabase)
        XCTAssertEqual(try database.identifier, "\(StandIn.defaultContainer)/private")
        XCTAssertNoThrow(try engine.core.checkConfiguration())
    }

    func testTheFirstModelSyncsBetweenTwoDevices() async throws {
        let service = FakeCloudKit(FakeCloud().database(user: "alice"))
        let phone = makeEngine(on: service)
        let tower = Landmark(name: "Tower of Pisa")
        try await phone.upload(tower)
        try await phone.edit(tower) { $0.note = "Go up at dusk." }
        let sent = try await phone.sync()
        XCTAssertEqual(sent.pending, 0)

        let tablet = makeEngine(on: service.secondDevice())
        let fetched = try await tablet.sync()
        XCTAssertEqual(fetched.fetched, 1)
        for await change in tablet.changes {
            guard case .updated(let landmarks) = change else { return XCTFail("\(change)") }
            XCTAssertEqual(landmarks.map(\.name), ["Tower of Pisa"])
            XCTAssertEqual(landmarks.map(\.note), ["Go up at dusk."])
            break
        }
        try await phone.close()
        try await tablet.close()
    }
}
