import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// Random inputs in random order never break the invariants.
final class MachineRandomTests: XCTestCase {
    func testRandomRunsKeepTheInvariants() {
        for seed in 0..<Cases.sample(4, of: 30) {
            var run = RandomRun(seed: UInt64(seed))
            for step in 0..<80 {
                run.step()
                let faults = run.faults
                guard faults.isEmpty else { return XCTFail("seed \(seed), step \(step): \(faults)") }
            }
            run.calmDown()
            let faults = run.faults + run.faultsWhenCalm
            guard faults.isEmpty else { return XCTFail("seed \(seed), at the end: \(faults)") }
        }
    }

    /// I-50.
    func testSameInputsGiveTheSameActions() {
        for seed in 0..<Cases.sample(2, of: 10) {
            var first = RandomRun(seed: UInt64(seed))
            var second = RandomRun(seed: UInt64(seed))
            for _ in 0..<100 {
                first.step()
                second.step()
            }
            XCTAssertEqual(first.harness.rows, second.harness.rows, "seed \(seed)")
            XCTAssertEqual(first.actions, second.actions, "seed \(seed)")
        }
    }
}

/// A machine with an unreliable cloud and a random app, decided by a seed.
private struct RandomRun {
    var harness = MachineHarness { configuration in
        configuration.maximumItems = 3
        configuration.pollInterval = .seconds(100)
    }
    var actions: [SyncAction] = []
    private var random: SplitMix64
    private var number: UInt64 = 1
    /// The records in the cloud, by name.
    private var cloud: [String: KnownVersion] = [:]
    private let names = (0..<6).map { "N\($0)" }
    /// The cloud at the time of the current page request.
    private var snapshot: (request: RequestID, cloud: [String: KnownVersion])?
    private var faulty = true

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
        harness.run(.calls(.start))
    }

    private mutating func pick(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }
    private mutating func name() -> String { names[pick(names.count)] }
    private mutating func next() -> UInt64 {
        number += 1
        return number
    }
    private mutating func call() -> CallID { harness.newCall() }

    mutating func step() {
        actions = []
        if let request = harness.fetchRequest, snapshot?.request != request.id {
            snapshot = (request.id, cloud)
        }
        switch pick(21) {
        case 0, 1, 2: feed(.calls(.enqueue(call(), [.save(name(), next())])))
        case 3: feed(.calls(.enqueue(call(), [.delete(name()), .save(name(), next())])))
        case 4: changeTheCloud()
        case 5, 6, 7, 8: commit()
        case 9, 10, 11, 12: answer()
        case 13: actions += harness.fireNext()
        case 14: feed(.delivery(.streamRequested(StreamID(pick(2)))))
        case 15: feed(pick(2) == 0 ? .delivery(.streamEnded(StreamID(pick(2)))) : .signal(.changes(in: nil)))
        case 16: feed(.calls(.sync(call(), pick(2) == 0 ? .send : [.fetch, .send])))
        case 17: feed(.calls(.retry(call(), names: names)))
        case 18:
            switch pick(6) {
            case 0: feed(.calls(.stop))
            case 1: feed(.calls(.discard(call(), names: [name()])))
            case 2: feed(.signal(.reachable))
            case 3: feed(.calls(.resync(call())))
            case 4: feed(.calls(.resolvePurge(call(), uploadAgain: pick(2) == 0)))
            default: feed(.signal(.accountChanged))
            }
        case 19: useLiveStream(StreamID(2 + pick(2)))
        default: feed(.calls(.start))
        }
    }

    private mutating func useLiveStream(_ live: StreamID) {
        feed(.delivery(pick(5) == 0 ? .streamEnded(live) : .streamRequested(live, .live)))
    }

    private mutating func feed(_ input: SyncInput) { harness.feed(input) }

    private mutating func commit() {
        if faulty, pick(10) == 0 {
            actions += harness.failNextCommit()
        } else {
            actions += harness.commitNext()
        }
    }

    private mutating func changeTheCloud() {
        let name = name()
        // Sometimes a newer version of the app saves it.
        let schema = pick(3) == 0 ? 2 : 1
        if pick(3) == 0 { cloud[name] = nil } else { cloud[name] = KnownVersion(next(), schema: schema) }
    }

    private mutating func error() -> CloudError {
        let codes = CloudError.Code.known
        let isShort = pick(2) == 0
        return CloudError(
            codes[pick(codes.count)],
            retryAfter: pick(5) == 0 ? .seconds(Int64(pick(50))) : nil,
            userDidResetEncryptedData: isShort
        )
    }

    // MARK: The cloud

    private mutating func answer() {
        let isFailing = faulty && pick(4) == 0
        if !harness.conflicts.isEmpty, pick(2) == 0 { return reconcile() }
        guard let (id, lane) = harness.open.min(by: { $0.key < $1.key }) else { return reconcile() }
        if isFailing, pick(3) == 0 {
            harness.missDeadline(id)
            return
        }
        switch lane {
        case "fetch":
            isFailing
                ? feed(.response(id, .failure(error())))
                : feed(.response(id, .success(.page(page()))))
        case "look-up": lookUp(id, isFailing)
        case "send": isFailing && pick(2) == 0 ? feed(.response(id, .failure(error()))) : save(id)
        default: setUp(id, isFailing)
        }
    }

    private mutating func setUp(_ id: RequestID, _ isFailing: Bool) {
        let failure = isFailing ? error() : nil
        func answer(_ answer: CloudAnswer) -> CloudResult { failure.map { .failure($0) } ?? .success(answer) }
        switch harness.requests[id] {
        case .readDatabaseChanges:
            let reasons: [DatabaseChanges.Deletion.Reason?] = [nil, .deleted, .purged, .encryptedDataReset]
            let reason = faulty ? reasons[pick(4)] : nil
            cloud = [:]
            feed(.response(id, .success(.databaseChanges(ZoneFate(reason: reason, token: nil)))))
        case .saveZone: feed(.response(id, answer(.zoneSaved)))
        case .subscribe, .unsubscribe: feed(.response(id, answer(.subscriptionModified)))
        default:
            feed(.response(id, answer(.account(CloudAccount(status: .available, userRecordName: "alice")))))
        }
    }

    private mutating func page() -> FetchedPage {
        var page = FetchedPage(token: ChangeToken("\(next())"), moreComing: false)
        let isOld = snapshot?.request == harness.fetchRequest?.id && pick(2) == 0
        let cloud = isOld ? snapshot?.cloud ?? cloud : cloud
        for name in names {
            if let version = cloud[name] {
                page.records.append(FetchedRecord(name: name, version: version))
            } else {
                page.deletions.append(RecordKey(name))
            }
        }
        return page
    }

    private mutating func lookUp(_ id: RequestID, _ isFailing: Bool) {
        var results = (harness.lookUpRequest?.names ?? []).map {
            LookedUp(name: $0, result: .success(cloud[$0]))
        }
        if isFailing, !results.isEmpty { results[0].result = .failure(error()) }
        feed(.response(id, .success(.records(results))))
    }

    private mutating func save(_ id: RequestID) {
        var results: [SendResult] = []
        for item in harness.sendRequest?.items ?? [] {
            let isLost = faulty && pick(8) == 0
            let outcome: SendResult.Outcome
            if faulty, pick(8) == 0 {
                outcome = .failed(error())
            } else if item.handle == nil {
                outcome = cloud[item.name] == nil ? .failed(CloudError(.unknownItem)) : .deleted
                cloud[item.name] = nil
            } else if item.known != nil, cloud[item.name] == nil {
                outcome = .failed(CloudError(.unknownItem))
            } else if cloud[item.name]?.changeTag != item.known?.changeTag {
                outcome = pick(3) == 0 ? .conflict(server: nil) : .conflict(server: cloud[item.name])
            } else {
                let version = KnownVersion(next())
                cloud[item.name] = version
                outcome = .saved(version)
            }
            if !isLost { results.append(SendResult(name: item.name, handle: item.handle, outcome: outcome)) }
        }
        feed(.response(id, .success(.sendResults(results))))
    }

    private mutating func reconcile() {
        guard !harness.conflicts.isEmpty else { return }
        let results = harness.conflicts.map { item in
            let resolution: Resolution =
                switch pick(faulty ? 5 : 3) {
                case 0: .client
                case 1: .merged(ContentHandle(next()), size: 10, edited: item.clientEdited)
                case 2: .server
                case 3: .failed(ParkReason(kind: .resolverFailed, message: "no"))
                default:
                    item.sent.first.map { item.server == nil ? .client : .confirmed($0.handle) } ?? .client
                }
            return Reconciled(item: item, resolution: resolution, wasAsked: true)
        }
        feed(.reconciled(results))
    }

    // MARK: What must hold

    var faults: [String] {
        var faults = harness.faults
        let state = harness.state
        let queues = [state.sendQueue, state.conflictQueue, state.parkedQueue]
        for name in names {
            let count = queues.filter { $0.contains(name) }.count
            let isLost = state[name]?.lost != nil
            if count > 1, !isLost { faults.append("\(name) is in \(count) queues") }
            if (count >= 1) != (state[name]?.pending != nil || isLost) {
                faults.append("\(name) is in no queue")
            }
            if state[name]?.isEmpty == true { faults.append("\(name) is kept although its state is empty") }
        }
        if Set(state.pendingNames).count != state.pendingNames.count {
            faults.append("a name is pending twice")
        }
        let lost = names.filter {
            state[$0]?.lost != nil && state.sendQueue.contains($0) && state.parkedQueue.contains($0)
        }
        if state.pendingCount != state.pendingNames.count + lost.count {
            faults.append("pendingCount is wrong")
        }
        let known = state.sortedNames.filter { state[$0]?.known != nil }.count
        if state.knownCount != known { faults.append("knownCount is wrong") }
        if harness.machine.sending.inFlight.count > 3 { faults.append("a request is too large") }
        return faults
    }

    /// The faults end: everything is answered, fetched, sent and accepted, and both sides are equal.
    mutating func calmDown() {
        faulty = false
        // Versions that this app can't read would stay.
        for name in names where cloud[name]?.schema ?? .first > .first { cloud[name] = KnownVersion(next()) }
        // A configuration error is only retried when the app asks.
        harness.feed(.calls(.stop))
        harness.feed(.calls(.start))
        for _ in 0..<400 {
            harness.commitAll()
            if harness.state.onlyZone.stage == .purged {
                feed(.calls(.resolvePurge(call(), uploadAgain: true)))
            }
            if !harness.conflicts.isEmpty { reconcile() }
            if harness.open.isEmpty {
                guard
                    harness.state.sendQueue.count + harness.state.conflictQueue.count > 0
                        || harness.machine.fetching.isWanted
                        || harness.machine.context.serverWait.until != nil
                else { break }
                if harness.isWithoutTimers { feed(.calls(.start)) }
                harness.fireNext()
            } else {
                answer()
            }
        }
        harness.commitAll()
        for _ in 0..<4 {
            feed(.signal(.changes(in: nil)))
            for _ in 0..<30 where !harness.open.isEmpty || !harness.conflicts.isEmpty {
                harness.commitAll()
                answer()
                harness.commitAll()
            }
        }
        for stream in [0, 1, 2, 3, 0, 1, 2, 3] {
            let kind = stream < 2 ? StreamKind.changes : .live
            for _ in 0..<20 { harness.run(.delivery(.streamRequested(StreamID(stream), kind))) }
            while harness.timers[.deliverRetry] != nil { harness.fireNext { $0 == .deliverRetry } }
        }
    }

    var faultsWhenCalm: [String] {
        var faults: [String] = []
        let state = harness.state
        if state.sendQueue.count + state.conflictQueue.count > 0 {
            let machine = harness.machine
            faults.append("pending: \(state.pendingNames), \(String(describing: machine.reported))")
        }
        if case .unavailable = harness.machine.account.stage {
            faults.append("the account is still unavailable")
        }
        for name in names where state[name]?.known?.changeTag != cloud[name]?.changeTag {
            faults.append(
                "\(name): \(String(describing: state[name])), cloud \(String(describing: cloud[name]))"
            )
        }
        faults += harness.foldingFaults(names)
        for name in names where state.undelivered(name) != nil { faults.append("\(name) is undelivered") }
        var replayed = SyncState()
        for row in harness.rows { replayed.apply(row: row) }
        if replayed.records != state.records { faults.append("the replayed records differ") }
        if replayed.zones != state.zones { faults.append("the replayed zones differ") }
        if replayed.summary.isOther(than: state.summary) { faults.append("the replayed summary differs") }
        if replayed.notes != state.notes { faults.append("the replayed notes differ") }
        return faults
    }
}
