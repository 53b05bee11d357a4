import XCTest

@testable import CodableSync

/// Scenarios, group P: the cost of an upload and of one bad record when many changes are queued.
final class ScaleScenarios: XCTestCase {
    private struct Cost: Equatable {
        var rows: [StateRow]
        var bytes: Int
        var calls: [String]
    }

    private func cost(ofAnUploadOn pending: Int) throws -> Cost {
        let files = SimulatedFileSystem()
        let opened = try JSONStateStore.open(directory: "/state", fileSystem: files)
        var state = opened.state
        let queued = (0..<pending).map { number in
            let change = LocalChange(
                kind: .save(ContentHandle(UInt64(number)), size: 9),
                edited: nil,
                base: nil
            )
            return StateChange.queued(name: "n-\(number)", change)
        }
        try opened.store.append(queued, to: &state)
        var machine = MachineHarness(state: state)
        let before = (bytes: files.writtenBytes, calls: files.calls.count)
        let actions = machine.run(.calls(.enqueue(1, [.save("new", 200_000)])))
        for case .store(let changes) in actions {
            let contents = [ContentHandle(200_000): JournalSamples.record("new", "text")]
            let (rows, flush) = (changes.rows, changes.mustFlush)
            let batch = JournalBatch(rows: rows, contents: contents, flush: flush)
            try opened.store.append(batch, leaving: machine.machine.state)
        }
        return Cost(
            rows: actions.lines,
            bytes: files.writtenBytes - before.bytes,
            calls: files.calls.dropFirst(before.calls).map { "\($0.kind)" }
        )
    }

    /// SC-01.
    ///
    /// Filling a queue of this size takes a while, but smaller ones don't show costs that grow with the
    /// queue.
    func testAnUploadCostsTheSameWithTwentyThousandPendingChanges() throws {
        let first = try cost(ofAnUploadOn: 1)
        let last = try cost(ofAnUploadOn: 20_000)
        XCTAssertEqual(last, first)
        XCTAssertEqual(first.rows.count, 1)
        XCTAssertEqual(first.calls.filter { $0 == "read" }, [], "no queued contents are loaded")
        XCTAssertEqual(first.calls, ["look", "append", "flush"])
    }

    /// The number of requests for 2000 changes, if the server rejects every request that contains the bad
    /// record.
    private func requests(withPoisonAt place: Int?) -> Int {
        var harness = MachineHarness.synced()
        let changes = (0..<2000).map { number in
            NewChange.save(number == place ? "poison" : "n-\(number)", UInt64(number) + 1)
        }
        harness.run(.calls(.enqueue(harness.newCall(), changes)))
        var requests = 0
        while let request = harness.sendRequest, requests < 200 {
            requests += 1
            if request.items.contains(where: { $0.name == "poison" }) {
                harness.failSend(CloudError(.invalidArguments))
            } else {
                harness.answerSend { .saved(KnownVersion(($0.handle?.number ?? 0) + 20_000)) }
            }
        }
        let parked = place == nil ? [] : ["poison"]
        XCTAssertEqual(Array(harness.state.parkedQueue.names), parked)
        XCTAssertEqual(harness.state.pendingCount, parked.count)
        return requests
    }

    /// SC-02.
    ///
    /// 2000 changes fit into five requests.
    func testOneBadRecordCostsALogarithmicNumberOfRequests() {
        let normal = requests(withPoisonAt: nil)
        XCTAssertEqual(normal, 5)
        let atTheFront = requests(withPoisonAt: 0)
        XCTAssertLessThanOrEqual(atTheFront, normal + 9, "log2 of a request of 400")
        XCTAssertLessThanOrEqual(requests(withPoisonAt: 250), normal + 11, "log2 of all changes")
    }
}
