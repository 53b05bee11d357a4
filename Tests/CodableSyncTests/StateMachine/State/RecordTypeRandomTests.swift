import RecordCoding
import XCTest

@testable import CodableSync

/// After any sequence of entries and undone batches, the index by record type equals a recomputation.
final class RecordTypeRandomTests: XCTestCase {
    func testTheIndexEqualsARecomputation() {
        var lengths: Set<Int> = []
        for seed in 0..<UInt64(Cases.sample(30, of: 400)) {
            var story = TypeStory(seed: seed)
            for step in 0..<60 {
                story.step()
                for type in TypeStory.types {
                    let keys = story.state.sortedKeys(of: type)
                    lengths.insert(keys.count)
                    XCTAssertEqual(keys, story.keys(of: type), "seed \(seed), step \(step), \(type.text)")
                }
                for key in story.state.sortedKeys(of: nil) {
                    XCTAssertEqual(story.state.recordType(of: key), story.expected[key], "seed \(seed)")
                }
            }
            if testRun?.hasSucceeded == false { return }
        }
        XCTAssertGreaterThan(lengths.count, 6, "the stories are too poor")
    }
}

/// Random entries about a few records of three types in two zones, in batches that may be undone.
private struct TypeStory {
    static let types: [ExactName] = ["Place", "Tour", "K"]

    private(set) var state = SyncState()
    /// The type that the entries gave each record last.
    private(set) var expected: [RecordKey: ExactName] = [:]
    /// The batches that can be undone, each with what was expected before it.
    private var batches: [(state: SyncState, expected: [RecordKey: ExactName])] = []
    private var random: SplitMix64
    private var lastHandle: UInt64 = 0

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
    }

    func keys(of type: ExactName) -> [RecordKey] {
        expected.filter { $0.value == type }.map(\.key).sorted()
    }

    mutating func step() {
        switch pick(6) {
        case 0 where !batches.isEmpty:
            // The disk refuses a batch, and with it all later ones.
            let first = pick(batches.count)
            state = batches[first].state
            expected = batches[first].expected
            batches.removeSubrange(first...)
        case 1: batches = []
        default:
            let before = (state, expected)
            for _ in 0...pick(3) { apply() }
            batches.append(before)
        }
    }

    private mutating func pick(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }

    private mutating func handle() -> ContentHandle {
        lastHandle += 1
        return ContentHandle(lastHandle)
    }

    private mutating func version() -> KnownVersion { KnownVersion(handle().number) }

    private mutating func apply() {
        // Names in two Unicode forms, which are two records.
        let names: [ExactName] = ["a", "b", "K", "\u{212A}"]
        let key = RecordKey(zone: ZoneNumber(UInt32(1 + pick(2))), name: names[pick(names.count)])
        let type = Self.types[pick(Self.types.count)]
        let given: ExactName? = pick(3) == 0 ? nil : type
        switch pick(14) {
        case 0, 1:
            let change = LocalChange(kind: .save(handle(), size: 1), edited: nil, base: nil)
            apply(.queued(key, type: type, change), giving: type, to: key)
        case 2:
            let change = LocalChange(kind: .delete, edited: nil, base: state[key]?.known?.handle)
            apply(.queued(key, type: type, change), giving: type, to: key)
        case 3, 4, 5: apply(.fetched(key, type: type, version()), giving: type, to: key)
        case 6: apply(.deletionFetched(key))
        case 7: apply(.lookUpNeeded(key.zone, [key.name]))
        case 8:
            let sent = state[key]?.pending?.handle ?? handle()
            apply(.saved(key, sent: sent, version()), to: key)
        case 9: apply(.discarded(key))
        case 10: apply(.deletionConfirmed(key))
        case 11: apply(.row(.record(key, type: given, RecordState())))
        case 12: apply(pick(4) == 0 ? .signedOut(removing: true) : .lost(key.zone, .purged))
        default:
            apply((pick(2) == 0 ? .lost(key.zone, .deleted) : .purgeResolved(uploadAgain: false)))
        }
    }

    private mutating func apply(
        _ entry: StateChange,
        giving type: ExactName? = nil,
        to key: RecordKey? = nil
    ) {
        state.apply(entry)
        if let type, let key { expected[key] = type }
        expected = expected.filter { state[$0.key] != nil }
    }
}
