import Foundation
import RecordCoding

@testable import CodableSync

/// The steps of a story, and the checks at its end.
extension StampWorld {
    mutating func step() {
        let name = name()
        log.append("-- step")
        switch pick(34) {
        case 0...3: upload(name)
        case 4: if options.deletes, pick(2) == 0 { delete(name) } else { upload(name) }
        case 5: if options.foreignEdits { editElsewhere(name) }
        case 6: if options.foreignEdits, pick(2) == 0 { editElsewhere(name) }
        case 7: if options.deletes { deleteElsewhere(name) }
        case 8 where options.hasSecondStream && pick(2) == 0: askSecond()
        case 8, 9: if options.consumes { ask() }
        case 10: if options.discards, pick(2) == 0 { discard(name) }
        case 11: feed(.calls(.retry(harness.newCall(), names: [name])))
        case 12:
            let call = harness.newCall()
            waiting.insert(call)
            log.append("sync, call \(call)")
            let parts: [SyncParts] = [.fetch, .send, [.fetch, .send]]
            feed(.calls(.sync(call, parts[pick(3)])))
        case 13: feed(.signal(pick(2) == 0 ? .changes(in: nil) : .reachable))
        case 14...15 where options.removes: crossAnswers(name)
        case 14: if options.faults, pick(3) == 0 { failCommit() }
        case 15: if options.crashes, pick(4) == 0 { crash() }
        case 16: if options.faults, let id = requests.keys.min() { missDeadline(id) }
        case 17: if options.faults { haunt() }
        case 18:
            log.append("a timer fires")
            fireTimer()
        case 19: if options.faults, pick(6) == 0 { feed(.calls(.resync(harness.newCall()))) }
        case 20, 21: reconcile()
        case 32, 33: finishDecoding()
        case 22...25:
            let open = requests.keys.sorted()
            if !open.isEmpty { answer(open[pick(open.count)], faulty: options.faults) }
        case 26:
            let open = requests.keys.sorted()
            if !open.isEmpty { perform(open[pick(open.count)], faulty: options.faults) }
        default: commit()
        }
    }

    /// A save is applied, another device saves on top of it, and a page with that version arrives before the
    /// save's answer.
    mutating func crossAnswers(_ name: String) {
        log.append("answers cross")
        for id in requests.keys.sorted() {
            if case .send? = requests[id] { perform(id, faulty: false) }
        }
        editElsewhere(name)
        feed(.signal(.changes(in: nil)))
        for id in requests.keys.sorted() {
            if case .fetch? = requests[id] { answer(id, faulty: false) }
        }
        while harness.isTurnOpen { commit() }
    }

    mutating func fireTimer() {
        let others = harness.timers.filter { if case .deadline = $0.key { false } else { true } }
        pass(until: others.values.min())
    }

    /// Lets the time pass; what is due happens.
    mutating func pass(until instant: Duration?) {
        guard let instant else { return }
        harness.advance(to: instant)
        feed(.timePassed)
    }

    /// Finishes everything in progress, without faults.
    mutating func settle() {
        for _ in 0..<300 {
            if harness.isTurnOpen {
                commit()
            } else if !harness.conflicts.isEmpty {
                reconcile()
            } else if !decoding.isEmpty {
                finishDecoding()
            } else if let id = requests.keys.min() {
                answer(id, faulty: false)
            } else {
                return
            }
        }
        faults.append("the machine never becomes idle")
    }

    mutating func calmDown() {
        log.append("-- calm")
        while !ghosts.isEmpty { haunt() }
        settle()
        feed(.calls(.retry(harness.newCall(), names: names)))
        for round in 0..<12 {
            settle()
            // The disk may have rejected the first call.
            if round == 3, !harness.state.parkedQueue.isEmpty {
                feed(.calls(.retry(harness.newCall(), names: names)))
            }
            if options.consumes { ask() }
            if options.hasSecondStream { askSecond() }
            fireTimer()
        }
        feed(.signal(.changes(in: nil)))
        settle()
        if options.consumes { for _ in 0..<6 { ask(); settle() } }
        if options.hasSecondStream { for _ in 0..<6 { askSecond(); settle() } }
        check()
    }

    mutating func check() {
        let state = harness.state
        if !calls.isEmpty || !waiting.isEmpty { faults.append("calls \(calls.keys) \(waiting) never end") }
        if options.resolves != .fails {
            if state.pendingCount > 0 { faults.append("still pending: \(state.pendingNames)") }
        }
        for name in names {
            let there = cloud[name]?.stamps
            let known = state[name]?.known?.changeTag
            if known != cloud[name].map({ "t\($0.tag)" }) {
                faults.append("\(name): known is \(known ?? "-"), the cloud has \(cloud[name]?.tag ?? 0)")
            }
            let pending = stamps(state[name]?.pending?.handle) ?? []
            let back = (removed[name] ?? []).intersection(there ?? [])
            if !back.isEmpty { faults.append("\(name): \(back.sorted()) was removed but is in the cloud") }
            let missing = (expected[name] ?? []).subtracting((there ?? []).union(pending))
            if !missing.isEmpty {
                faults.append("\(name): \(missing.sorted()) lost, there is \(there ?? [])")
            }
            if options.resolves != .fails {
                if deletedHere.contains(name), there != nil { faults.append("\(name) was deleted here") }
                if copy(of: name) != there { faults.append("\(name) is shown differently from the cloud") }
                if options.consumes, !unsaved.contains(name), copies[name] != there {
                    faults.append("\(name): the app has \(copies[name] ?? []), the cloud \(there ?? [])")
                }
            }
        }
    }
}
