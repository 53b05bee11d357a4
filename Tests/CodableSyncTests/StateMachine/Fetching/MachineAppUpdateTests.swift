import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// An update or a downgrade of the app changes which schema versions it can read.
final class MachineAppUpdateTests: MachineTestCase {
    override func setUp() {
        super.setUp()
        machine.know("A", 1)
    }

    /// The schemas of the state that was opened last.
    private var formerSchemas: [ReadableSchema] = []

    private var record: RecordState? { machine.state["A"] }

    /// Opens the state with another version of the app.
    private func open(_ schema: Int) -> [SyncAction] {
        var next = MachineHarness(state: machine.state) { configuration in
            configuration.schemas = [ReadableSchema(type: testType, version: SchemaVersion(schema))]
        }
        next.now = machine.now
        formerSchemas = machine.state.summary.schemas
        machine = next
        machine.run(.delivery(.streamRequested(1)))
        return machine.restart()
    }

    private func online() {
        machine.confirmAccount()
        machine.finishSetup()
        machine.answerFetch(token: "again")
    }

    private func fetchNewer(_ name: String = "A", _ number: UInt64, schema: Int = 2, hash: UInt64? = nil) {
        machine.fetch([.init(name, number, hash: hash, schema: schema)], token: "newer-\(number)")
    }

    /// How often the machine has stored that it can read other versions than the one before.
    private var readableChanges: Int {
        let stored = [formerSchemas] + machine.rows.compactMap { $0.summary?.schemas }
        return zip(stored, stored.dropFirst()).count { $0 != $1 }
    }

    func testAnUpdateDeliversTheNewerVersion() {
        fetchNewer("A", 2)
        fetchNewer("X", 5)
        fetchNewer("Y", 6, schema: 3)
        _ = open(2)
        XCTAssertEqual(machine.state.shownHandle(of: "A"), 2)
        XCTAssertEqual(machine.state.shownHandle(of: "X"), 5)
        XCTAssertNil(machine.state.shownHandle(of: "Y"))
        XCTAssertEqual(machine.state.undelivered("A"), .updated(2))
        XCTAssertNil(record?.kept)
        XCTAssertEqual(machine.state.tooNewQueue.names, ["Y"])
        XCTAssertEqual(readableChanges, 1)
    }

    func testAnOpeningWithTheSameVersionStoresNothing() {
        fetchNewer("A", 2)
        _ = open(1)
        XCTAssertEqual(readableChanges, 0)
        _ = open(2)
        _ = open(2)
        XCTAssertEqual(readableChanges, 0)
        XCTAssertEqual(machine.state.shownHandle(of: "A"), 2)
    }

    func testAnUpdateTriesTheParkedEditAgain() {
        fetchNewer("A", 2)
        machine.upload("A", 10)
        let conflict = open(2).conflicts.first ?? machine.conflicts.first
        XCTAssertEqual(conflict?.ancestor, 1)
        XCTAssertEqual(conflict?.server, 2)
        XCTAssertEqual(conflict?.client, 10)
        machine.resolve { _ in .client }
        XCTAssertTrue(machine.state.sendQueue.contains("A"))
    }

    func testAnUpdateTriesTheParkedDeletionAgain() {
        fetchNewer("A", 2)
        machine.delete("A")
        _ = open(2)
        online()
        XCTAssertEqual(machine.sendRequest?.items.map(\.handle), [nil])
        XCTAssertEqual(machine.sendRequest?.items.map { $0.known?.changeTag }, ["t2"])
        XCTAssertNil(machine.state.undelivered("A"))
    }

    func testAnUpdateLeavesAnEditParkedThatTheServerRefused() {
        machine.upload("A", 10)
        machine.answerSend { _ in .failed(CloudError(.permissionFailure)) }
        fetchNewer("A", 2)
        _ = open(2)
        XCTAssertEqual(record?.pending?.parked?.kind, .refused)
        XCTAssertEqual(machine.state.shownHandle(of: "A"), 2)
        XCTAssertEqual(machine.state.undelivered("A"), .updated(2))
    }

    func testAnUpdateDoesNotDeliverEqualContents() {
        fetchNewer("A", 2, hash: 1)
        XCTAssertEqual(record?.readable?.handle, 1)
        _ = open(2)
        XCTAssertNil(machine.state.undelivered("A"))
    }

    func testARefusedUpdateIsTriedWithTheNextInput() {
        fetchNewer("A", 2)
        let state = machine.state
        machine = MachineHarness(state: state) { configuration in
            configuration.schemas = [ReadableSchema(type: testType, version: SchemaVersion(2))]
        }
        machine.feed(.calls(.start))
        XCTAssertEqual(machine.state.shownHandle(of: "A"), 2)
        let refused = machine.failNextCommit()
        XCTAssertEqual(refused.lines, [])
        XCTAssertEqual(machine.state.shownHandle(of: "A"), 1)
        machine.run(.signal(.changes(in: nil)))
        XCTAssertEqual(machine.state.shownHandle(of: "A"), 2)
    }

    func testADowngradeShowsNothingAndParksEdits() {
        _ = open(2)
        online()
        machine.fetch([.init("A", 2, schema: 2)], token: "2")
        machine.run(.delivery(.streamRequested(1)))
        machine.upload("A", 10)
        _ = open(1)
        XCTAssertEqual(record?.pending?.parked?.kind, .serverValueUndecodable)
        XCTAssertEqual(record?.pending?.base, 2)
        machine.run(.calls(.discard(machine.newCall(), names: ["A"])))
        XCTAssertNil(machine.state.shownHandle(of: "A"))
        // The older version has never seen the record.
        machine.upload("A", 11)
        XCTAssertNil(record?.pending?.base)
        XCTAssertNotNil(record?.pending?.parked)
        let conflict = open(2).conflicts.first ?? machine.conflicts.first
        XCTAssertEqual(conflict?.server, 2)
        XCTAssertNil(conflict?.ancestor)
    }

    func testADowngradeTakesAnUndeliveredVersionBack() {
        _ = open(2)
        online()
        machine.run(.delivery(.streamEnded(1)))
        machine.fetch([.init("X", 5, schema: 2)], token: "5")
        XCTAssertEqual(machine.state.undelivered("X"), .updated(5))
        _ = open(1)
        XCTAssertNil(machine.state.undelivered("X"))
        _ = open(2)
        XCTAssertEqual(machine.state.undelivered("X"), .updated(5))
    }

    func testASavedVersionIsReadableByTheAppThatSavedIt() {
        _ = open(2)
        online()
        machine.upload("A", 10)
        machine.answerSend { _ in .saved(KnownVersion(20, schema: 2)) }
        XCTAssertEqual(record?.known?.isTooNew, false)
        XCTAssertEqual(machine.state.shownHandle(of: "A"), 20)
    }

    // MARK: The zone

    private func loseZone(_ reason: DatabaseChanges.Deletion.Reason?) {
        machine.hasFeed = true
        machine.run(.signal(.changes(in: nil)))
        guard let request = machine.fetchRequest else { return XCTFail("no fetch request") }
        let isReset = reason == .encryptedDataReset
        let error = CloudError(.zoneNotFound, userDidResetEncryptedData: isReset)
        machine.run(.response(request.id, .failure(error)))
        if !isReset, let request = machine.setupRequest {
            let fate = ZoneFate(reason: reason, token: ChangeToken("fate"))
            machine.run(.response(request, .success(.databaseChanges(fate))))
        }
        machine.finishSetup()
    }

    func testTheNewestVersionIsUploadedAgainAndTheKeptOneShown() {
        fetchNewer("A", 2)
        machine.upload("A", 10)
        loseZone(.encryptedDataReset)
        XCTAssertEqual(machine.answerFetch(token: "n").requests, ["send A=2@-"])
        XCTAssertEqual(machine.state.shownHandle(of: "A"), 10)
        XCTAssertEqual(record?.readable?.handle, 1)
        machine.answerSend { _ in .saved(KnownVersion(20, schema: 2)) }
        XCTAssertEqual(record?.known?.handle, 20)
        XCTAssertEqual(record?.readable?.handle, 1)
        XCTAssertNotNil(record?.pending?.parked)
        let conflict = machine.fetch([.init("A", 30)], token: "30").conflicts.first
        XCTAssertEqual(conflict?.ancestor, 1)
    }

    func testAnUndeliveredKeptVersionStaysSoWhenTheNewestIsUploadedAgain() {
        machine.fetch([.init("A", 7)], token: "7")
        fetchNewer("A", 8)
        loseZone(.encryptedDataReset)
        machine.answerFetch(token: "n")
        XCTAssertEqual(machine.state.undelivered("A"), .updated(7))
        machine.answerSend { _ in .saved(KnownVersion(20, schema: 2)) }
    }

    func testADeletionDoesNotKeepTheNewestVersionFromBeingUploadedAgain() {
        fetchNewer("A", 2)
        loseZone(.encryptedDataReset)
        machine.delete("A")
        XCTAssertNotNil(record?.pending?.parked)
        XCTAssertEqual(record?.lost?.handle, 2)
        machine.run(.calls(.retry(machine.newCall(), names: ["A"])))
        XCTAssertEqual(machine.answerFetch(token: "n").requests, ["send A=2@-"])
        XCTAssertNil(machine.state.shownHandle(of: "A"))
    }

    func testAnotherDevicesVersionLeavesTheEditWithoutAnAncestor() {
        fetchNewer("A", 2)
        machine.upload("A", 10)
        loseZone(.encryptedDataReset)
        let conflict = machine.answerFetch([.init("A", 30)], token: "n").conflicts.first
        XCTAssertEqual(conflict?.client, 10)
        XCTAssertEqual(conflict?.server, 30)
        XCTAssertNil(conflict?.ancestor)
    }

    func testAReadableVersionLostWithItsZoneMeetsANewerOne() {
        loseZone(.encryptedDataReset)
        machine.answerFetch([.init("A", 30, schema: 2)], token: "n")
        XCTAssertEqual(record?.known?.handle, 30)
        XCTAssertEqual(record?.pending?.handle, 1, "the lost version is an edit now")
        XCTAssertNotNil(record?.pending?.parked)
        XCTAssertEqual(machine.state.shownHandle(of: "A"), 1)
    }

    func testADeletedZoneTakesTheKeptVersionAway() {
        fetchNewer("A", 2)
        fetchNewer("X", 5)
        machine.run(.delivery(.streamRequested(1)))
        loseZone(.deleted)
        XCTAssertNil(machine.state.shownHandle(of: "A"))
        XCTAssertEqual(machine.state.undelivered("A"), .deleted)
        XCTAssertNil(machine.state["X"])
    }

    func testADeletedZoneUnparksTheEdit() {
        fetchNewer("A", 2)
        machine.upload("A", 10)
        loseZone(.deleted)
        XCTAssertNil(record?.pending?.parked)
        XCTAssertNil(record?.pending?.base)
        XCTAssertTrue(machine.state.sendQueue.contains("A"))
    }

    func testAPurgeThatIsAnsweredWithUploadingKeepsTheNewest() {
        fetchNewer("A", 2)
        loseZone(.purged)
        XCTAssertEqual(machine.state.shownHandle(of: "A"), 1)
        machine.run(.calls(.resolvePurge(machine.newCall(), uploadAgain: true)))
        XCTAssertEqual(record?.lost?.handle, 2)
        XCTAssertEqual(machine.state.shownHandle(of: "A"), 1)
    }

    func testADowngradeKeepsTheReasonOfAParkedEdit() {
        _ = open(2)
        online()
        fetchNewer("A", 2)
        machine.upload("A", 3)
        machine.answerSend { _ in .failed(CloudError(.permissionFailure)) }
        XCTAssertEqual(record?.pending?.parked?.kind, .refused)
        _ = open(1)
        XCTAssertEqual(record?.pending?.parked?.kind, .refused)
    }
}
