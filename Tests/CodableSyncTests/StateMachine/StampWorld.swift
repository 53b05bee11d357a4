import Foundation
import RecordCoding

@testable import CodableSync

/// A machine, a cloud that keeps the real rules, and an app whose records are sets of stamps, so that every edit can be
/// followed to its end.
///
/// Requests reach the cloud, or do not; answers come, come late, or never; the page of a fetch may lag behind.
struct StampWorld {
    /// What decides the story, and what the app and its model do.
    struct Options {
        var resolves = Resolver.union
        var keepsDeleted = false
        /// The app shows what a stream hands it, and edits that; otherwise it reads.
        var consumes = false
        var deletes = true
        var discards = true
        var faults = true
        var crashes = true
        var foreignEdits = true
        /// The app takes stamps out again, and its model merges by the ancestor.
        var removes = false
        /// Pages cannot read some of the records that they tell of.
        var hidesRecords = true
        /// Another loop takes every change, too.
        var hasSecondStream = false
        /// The numbers of the batches that the disk refuses, counted from 1.
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
    var journalBefore: [JournalEntry] = []
    var log: [String] = []
    var faults: [String] = []

    // The cloud.
    var cloud: [String: CloudVersion] = [:]
    var history: [(name: String, version: CloudVersion?)] = []
    var cloudDate = 1000
    var requests: [RequestID: SyncAction] = [:]
    var answers: [RequestID: Answer] = [:]
    /// Saves whose answers nobody waits for, and which may still arrive.
    var ghosts: [[SendItem]] = []
    /// The handles of the versions that a request makes, taken when it leaves, as the engine does.
    var handles: [RequestID: [String: ContentHandle]] = [:]

    // The app.
    let names: [String]
    /// What the app has, by name: read and not edited yet, or accepted from its stream.
    var copies: [String: Stamps] = [:]
    var held: [DeliveryItem] = []
    /// Elements that are being decoded, and how many calls had ended when that began.
    var decoding: [(items: [DeliveryItem], endedCalls: [String: Int])] = []
    /// How many uploads and deletions have been done, by name.
    var endedCalls: [String: Int] = [:]
    /// Records that the app has changed without knowing of what it was handed.
    var changedSince: Set<String> = []
    var stream: StreamID = 1
    /// What the second loop holds, and what it has taken, by the orders of the deliveries.
    var secondHolds: [String: UInt64] = [:]
    var secondHasTaken: [String: UInt64] = [:]
    var calls: [CallID: (name: String, stamp: Int?)] = [:]
    var waiting: Set<CallID> = []
    /// Values of calls that have not ended, by name.
    var underWay: [String: Stamps] = [:]
    /// Stamps that must be in the cloud in the end: acknowledged, or of another device.
    var expected: [String: Stamps] = [:]
    /// Stamps that the app has taken out, and that must not be in the cloud in the end.
    var removed: [String: Stamps] = [:]
    /// Records of which the app has an edit that the disk refused.
    var unsaved: Set<String> = []
    var startedAnew: Set<String> = []
    /// Records that another device has made: a deletion here may have met the former one's deletion instead.
    var madeAnew: Set<String> = []
    /// Records whose last word is this device's own deletion.
    var deletedHere: Set<String> = []

    init(seed: UInt64, _ options: Options) {
        self.options = options
        random = SplitMix64(seed: seed)
        names = ["A", "B"]
        harness = Self.newHarness()
        feed(.start)
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
        take(harness.feed(input))
        faults += harness.faults
    }

    mutating func take(_ actions: [SyncAction]) {
        for action in actions {
            switch action {
            case .fetch(let id, _), .lookUp(let id, _), .send(let id, _), .checkAccount(let id),
                .saveZone(let id, _), .subscribe(let id), .readDatabaseChanges(let id, _):
                requests[id] = action
                log.append("    asks \(action)")
                if case .send(_, let items) = action {
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
            case .append(let batch, let entries, _): log.append("    stores \(batch) \(entries)")
            default: break
            }
        }
    }

    mutating func commit() {
        guard let batch = harness.waiting.first?.batch else { return }
        batchCount += 1
        if options.refusedBatches.contains(batchCount) { return failCommit() }
        log.append("committed \(batch)")
        take(harness.commitNext())
    }

    mutating func failCommit() {
        guard let batch = harness.waiting.first?.batch else { return }
        log.append("refused \(batch)")
        take(harness.failNextCommit())
        compareWithJournal()
    }

    /// What is stored is what the journal amounts to.
    ///
    /// - Returns: The state as a new process would read it.
    @discardableResult
    private mutating func compareWithJournal() -> SyncState {
        var state = SyncState()
        for entry in journalBefore + harness.journal { state.apply(entry) }
        let stored = harness.storedState
        if state.records != stored.records { faults.append("the replayed records differ") }
        if state.summary != stored.summary { faults.append("the replayed summary differs") }
        if state.newestKnown != stored.newestKnown { faults.append("the replayed newest version differs") }
        return state
    }

    /// The process ends, and what is not committed never was.
    mutating func crash() {
        log.append("crash")
        var state = compareWithJournal()
        journalBefore += harness.journal
        if pick(2) == 0 {
            // A snapshot took the place of the journal.
            journalBefore = state.sortedNames.compactMap { name in
                state[name].map { .record(name: name, $0) }
            }
            journalBefore.append(.summary(state.summary))
            state = SyncState()
            for entry in journalBefore { state.apply(entry) }
        }
        let now = harness.now
        for case .send(_, let items)? in requests.values { ghosts.append(items) }
        harness = Self.newHarness(state)
        harness.now = now
        unsaved.formUnion(calls.values.map(\.name))
        startedAnew.formUnion(calls.values.filter { $0.stamp == nil }.map(\.name))
        (requests, answers, calls, waiting, underWay) = ([:], [:], [:], [], [:])
        (held, decoding, handles) = ([], [], [:])
        (secondHolds, secondHasTaken) = ([:], [:])
        if !options.consumes { copies = [:] }
        stream += 1
        feed(.start)
    }
}
