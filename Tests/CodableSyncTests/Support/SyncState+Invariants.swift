import XCTest

@testable import CodableSync

/// The invariants of every state and machine; tests and simulations check them after each input.
extension SyncState {
    /// The violated invariants of the state.
    ///
    /// Complexity: O(n) in the number of records.
    func brokenInvariants() -> [String] {
        var broken: [String] = []
        var counts = (known: 0, send: 0, conflict: 0, parked: 0, unread: 0, tooNew: 0)
        var deliveries = 0
        var deletions = 0
        var types: [ExactName: [RecordKey]] = [:]
        var known: [ZoneNumber: Int] = [:]
        for name in records.sortedKeys {
            guard let record = records[name] else { continue }
            broken += record.checkInvariants().map { "\(name): \($0)" }
            if let type = recordType(of: name) {
                types[type, default: []].append(name)
            } else if record.lastKnown != nil || record.pending != nil {
                broken.append("\(name) has contents and no type")
            }
            if record.known != nil { known[name.zone, default: 0] += 1 }
            if let last = record.lastKnown, last.isTooNew != isTooNew(last, of: recordType(of: name)) {
                broken.append("\(name) is taken for \(last.isTooNew ? "too new" : "readable")")
            }
            counts.known += record.known == nil ? 0 : 1
            func check(_ belongs: Bool, _ queue: RecordQueue, _ what: String) -> Int {
                if queue.contains(name) != belongs {
                    broken.append(
                        "\(name) \(belongs ? "is missing in" : "has no place in") the queue of \(what)"
                    )
                }
                return belongs ? 1 : 0
            }
            counts.send += check(record.isSendable, sendQueue, "changes to send")
            counts.conflict += check(record.isInConflict, conflictQueue, "conflicts")
            counts.parked += check(record.pending?.parked != nil, parkedQueue, "parked changes")
            counts.unread += check(record.mustLookUp, lookUpQueue, "records to look up")
            counts.tooNew += check(record.isTooNew, tooNewQueue, "records that are too new")
            deletions += check(record.server.isDeletion, deletionQueue, "deletions")
            if let number = untoldNews(of: name)?.number {
                deliveries += 1
                if untold[number] != name {
                    broken.append("\(name): its change is not the one of its number")
                }
                if number > summary.lastNumber { broken.append("\(name): its number was not given yet") }
            }
            if let known = record.known, newest[name.zone].map({ known.isNewer(than: $0) }) ?? true {
                broken.append("\(name) is newer than the newest of its zone")
            }
        }
        let kept = (
            knownCount, sendQueue.count, conflictQueue.count, parkedQueue.count, lookUpQueue.count,
            tooNewQueue.count
        )
        if deliveries != untold.count { broken.append("\(untold.count) changes to tell, not \(deliveries)") }
        if deletions != deletionQueue.count { broken.append("\(deletionQueue.count) deletions") }
        for (type, keys) in types where sortedKeys(of: type) != keys {
            broken.append("the index of \(type.text) is \(sortedKeys(of: type)), the records give \(keys)")
        }
        let indexed = self.types.names.reduce(0) { $0 + sortedKeys(of: $1).count }
        if indexed != types.values.reduce(0, { $0 + $1.count }) {
            broken.append("the index has too many records")
        }
        for number in zonesInUse + Array(known.keys) where knownCount(in: number) != known[number] ?? 0 {
            broken.append("the count of known records of zone \(number.number) is wrong")
        }
        if kept != counts { broken.append("the counts are \(kept), the records give \(counts)") }
        return broken
    }
}

extension SyncStateMachine {
    /// Asserts the invariants between two inputs; skipped for many records, where it would take longer than
    /// the test.
    func assertInvariants(after input: SyncInput) {
        guard state.records.count < 50 else { return }
        for line in brokenInvariants() { XCTFail("\(line), after \(input)") }
    }

    /// The violated invariants of the machine.
    ///
    /// Complexity: O(n) in the number of records.
    func brokenInvariants() -> [String] {
        var broken = state.brokenInvariants()
        let inFlight = sending.inFlight
        if inFlight.items.contains(where: { inFlight[$0.key] != $0 }) {
            broken.append("what is in flight is not found by name")
        }
        // A held response counts as in flight while the zone is examined.
        let subjects: [Subject] = (zone.holdsResponse ? [] : [.zone]) + [.fetching, .lookingUp, .sending]
        let count = subjects.count { context.requests.contains($0) }
        if count > 1 { broken.append("\(count) requests about records are in flight") }
        var lookedUp: [RecordKey] = []
        if case .lookUp(let keys)? = context.requests[.lookingUp]?.request { lookedUp = keys }
        for key in lookedUp where !lookingUp.queue.contains(key) {
            broken.append("\(key.recordName) is being looked up without a reason")
        }
        for name in deferred.queue.names where !state.sendQueue.contains(name) {
            broken.append("\(name) is deferred but not sendable")
        }
        return broken
    }

    /// Records that remain unread although no look-up is running; there must be none.
    var forgottenLookUps: [String] {
        let isIdle = lookingUp.queue.isEmpty && zone.doubt == nil
        guard isIdle else { return [] }
        return state.lookUpQueue.names.filter { !state.sendQueue.contains($0) }.map {
            "\($0) is unread, but no look-up is running"
        }
    }
}
