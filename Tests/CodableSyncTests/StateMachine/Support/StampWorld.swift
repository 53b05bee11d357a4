import Foundation
import RecordCoding

@testable import CodableSync

/// A machine, a cloud that follows the server's rules, and an app whose records are sets of stamps, so that
/// every edit can be followed to its end.
///
/// Requests may not reach the cloud, answers may be late or lost, and pages may lag behind.
struct StampWorld {
    /// Options of the story, the app and its model.
    struct Options {
        var resolves = Resolver.union
        var keepsDeleted = false
        /// Whether the app follows a stream.
        var consumes = false
        var deletes = true
        var discards = true
        var faults = true
        var crashes = true
        var foreignEdits = true
        /// Whether the app removes stamps, and its model merges with the ancestor.
        var removes = false
        /// Whether pages sometimes fail to read single records.
        var hidesRecords = true
        /// Whether a second loop takes every change, too.
        var hasSecondStream = false
        /// The batches that the disk rejects, counted from 1.
        var refusedBatches = 0..<0
    }

    enum Resolver: CaseIterable { case union, cloud, fails }

    typealias Stamps = Set<Int>

    struct CloudVersion: Equatable {
        var tag: Int
        var stamps: Stamps
        var modified: Int
        var isOwn: Bool
    }

    enum Answer {
        case page([(name: String, version: CloudVersion?)], failed: [String], token: Int)
        case lookUp([(name: String, version: CloudVersion?)])
        case sent([(item: SendItem, outcome: SaveOutcome)])
    }

    enum SaveOutcome {
        case saved(CloudVersion)
        case deleted
        case unchanged
        case missing
        case conflict(CloudVersion, isAttached: Bool)
        case failed(CloudError)
        case unmentioned
    }

    let options: Options
    var harness: MachineHarness
    var random: SplitMix64
    var number: UInt64 = 1
    var batchCount = 0
    var lastStamp = 0
    var values: [ContentHandle: Stamps] = [:]
    var hashes: [Stamps: UInt64] = [:]
    var rowsBefore: [StateRow] = []
    var log: [String] = []
    var faults: [String] = []

    // The cloud.
    var cloud: [String: CloudVersion] = [:]
    var history: [(name: String, version: CloudVersion?)] = []
    var cloudDate = 1000
    var requests: [RequestID: CloudRequest] = [:]
    var answers: [RequestID: Answer] = [:]
    /// Sends that timed out and may still be applied.
    var ghosts: [[SendItem]] = []
    /// The handles reserved for the versions that a request creates, as the engine does.
    var handles: [RequestID: [String: ContentHandle]] = [:]

    // The app.
    let names: [String]
    /// The app's copies by name: accepted from its stream, or made by its edits.
    var copies: [String: Stamps] = [:]
    var held: [DeliveryItem] = []
    /// Elements that are being decoded, with the calls that had ended when decoding began.
    var decoding: [(items: [DeliveryItem], endedCalls: [String: Int])] = []
    /// The number of finished uploads and deletions, by name.
    var endedCalls: [String: Int] = [:]
    /// Records that the app changed before it handled its current element.
    var changedSince: Set<String> = []
    var stream: StreamID = 1
    /// The delivery orders that the second loop handles, and those that it has accepted.
    var secondHolds: [String: UInt64] = [:]
    var secondHasTaken: [String: UInt64] = [:]
    var calls: [CallID: (name: String, stamp: Int?)] = [:]
    var waiting: Set<CallID> = []
    /// Values of calls that have not ended, by name.
    var underWay: [String: Stamps] = [:]
    /// Stamps expected in the cloud at the end: acknowledged, or written by another device.
    var expected: [String: Stamps] = [:]
    /// Stamps that the app removed, and that must not be in the cloud at the end.
    var removed: [String: Stamps] = [:]
    /// Records with an edit that the disk rejected.
    var unsaved: Set<String> = []
    var startedAnew: Set<String> = []
    /// Records that another device created: a deletion here may have met an earlier deletion instead.
    var madeAnew: Set<String> = []
    /// Records that this device deleted last.
    var deletedHere: Set<String> = []

    init(seed: UInt64, _ options: Options) {
        self.options = options
        random = SplitMix64(seed: seed)
        names = ["A", "B"]
        harness = Self.newHarness()
        feed(.calls(.start))
        settle()
    }

    static func newHarness(_ state: SyncState = SyncState()) -> MachineHarness {
        var harness = MachineHarness(state: state) { configuration in
            configuration.maximumItems = 2
            configuration.pollInterval = .seconds(100)
        }
        harness.hasFeed = true
        return harness
    }

    mutating func pick(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }

    mutating func name() -> String { names[pick(4) == 0 ? 1 : 0] }

    mutating func newHandle(_ stamps: Stamps) -> ContentHandle {
        number += 1
        values[ContentHandle(number)] = stamps
        return ContentHandle(number)
    }

    mutating func newStamp() -> Int {
        lastStamp += 1
        return lastStamp
    }

    func stamps(_ handle: ContentHandle?) -> Stamps? { handle.flatMap { values[$0] } }

    mutating func version(_ version: CloudVersion, as handle: ContentHandle? = nil) -> KnownVersion {
        if hashes[version.stamps] == nil { hashes[version.stamps] = UInt64(hashes.count + 1) }
        let handle = handle ?? newHandle(version.stamps)
        values[handle] = version.stamps
        return KnownVersion(
            changeTag: "t\(version.tag)",
            handle: handle,
            hash: hashes[version.stamps] ?? 0,
            modified: Date(timeIntervalSince1970: Double(version.modified))
        )
    }

    // MARK: The machine

    mutating func feed(_ input: SyncInput) {
        harness.feed(input)
        faults += harness.faults
    }

    mutating func take(_ actions: [SyncAction]) {
        for action in actions {
            switch action {
            case .request(let id, let request):
                requests[id] = request
                log.append("    asks \(action)")
                if case .send(let items) = request {
                    let saves = items.filter { $0.handle != nil }
                    for item in saves { handles[id, default: [:]][item.name] = newHandle([]) }
                }
            case .deliver(let stream, let items):
                guard stream == self.stream else {
                    giveSecond(items)
                    break
                }
                decoding.append((items, endedCalls))
                log.append("    decodes \(items)")
            case .answer(let call, let answer): end(call, answer)
            case .cancel(let id): cancel(id)
            case .store(let changes): log.append("    stores \(changes.rows)")
            default: break
            }
        }
    }

    mutating func commit() {
        guard harness.isTurnOpen else { return }
        let changes = harness.changes
        if !changes.isEmpty { batchCount += 1 }
        if !changes.isEmpty, options.refusedBatches.contains(batchCount) { return failCommit() }
        log.append("ends a turn")
        take(harness.commitNext())
    }

    mutating func failCommit() {
        guard harness.isTurnOpen else { return }
        log.append("refused")
        take(harness.failNextCommit())
        compareWithJournal()
    }

    /// Checks that the stored state equals the replayed journal.
    ///
    /// - Returns: The state that a new process would read.
    @discardableResult
    private mutating func compareWithJournal() -> SyncState {
        var state = SyncState()
        for row in rowsBefore + harness.rows { state.apply(row: row) }
        let stored = harness.storedState
        if state.records != stored.records { faults.append("the replayed records differ") }
        if state.summary.isOther(than: stored.summary) { faults.append("the replayed summary differs") }
        if state.newestKnown != stored.newestKnown { faults.append("the replayed newest version differs") }
        return state
    }

    /// The process ends; batches that are not committed are lost.
    mutating func crash() {
        log.append("crash")
        var state = compareWithJournal()
        rowsBefore += harness.rows
        if pick(2) == 0 {
            // A snapshot has replaced the journal.
            rowsBefore = [.summary(state.summary)]
            rowsBefore += state.sortedNames.compactMap { name in
                state[name].map { .record(RecordKey(name), type: testType, $0) }
            }
            state = SyncState()
            for row in rowsBefore { state.apply(row: row) }
        }
        let now = harness.now
        for case .send(let items) in requests.values { ghosts.append(items) }
        harness = Self.newHarness(state)
        harness.now = now
        unsaved.formUnion(calls.values.map(\.name))
        startedAnew.formUnion(calls.values.filter { $0.stamp == nil }.map(\.name))
        (requests, answers, calls, waiting, underWay) = ([:], [:], [:], [], [:])
        (held, decoding, handles) = ([], [], [:])
        (secondHolds, secondHasTaken) = ([:], [:])
        stream += 1
        feed(.calls(.start))
    }
}
