import Foundation
import RecordCoding

@testable import CodableSync

/// The app's calls, and the answers that it gets.
extension StampWorld {
    func copy(of name: String) -> Stamps? {
        stamps(harness.state.shownHandle(of: name))
    }

    /// The app edits what this device shows, or uploads it as a whole with its change.
    mutating func upload(_ name: String) {
        let shown = copy(of: name) ?? []
        let edit = harness.state.editBasis(of: name)
        let stamp = newStamp()
        var stamps = shown.union([stamp])
        if options.removes, pick(2) == 0,
            let out = shown.intersection(self.stamps(edit.on.version) ?? []).max()
        {
            stamps.remove(out)
            removed[name, default: []].insert(out)
            expected[name]?.remove(out)
        }
        let basis = pick(2) == 0 ? edit.on : nil
        let handle = newHandle(stamps)
        let call = harness.newCall()
        if let parked = harness.state[name]?.pending, parked.parked != nil {
            // The parked edit is replaced, not merged.
            let replaced = (self.stamps(parked.handle) ?? []).subtracting(stamps)
            expected[name]?.subtract(replaced)
        }
        log.append(
            "\(basis == nil ? "uploads" : "edits") \(name) \(stamps.sorted()) as \(handle.number), call \(call)"
        )
        calls[call] = (name, stamp)
        underWay[name] = stamps
        changedSince.insert(name)
        copies[name] = options.consumes ? stamps : nil
        let edited = harness.now.wall
        feed(
            .calls(
                .enqueue(
                    call,
                    [NewChange(name: name, kind: .save(handle, size: 10), edited: edited, basis: basis)]
                )
            )
        )
    }

    mutating func delete(_ name: String) {
        let call = harness.newCall()
        log.append("deletes \(name), call \(call)")
        // An edit that is not stored yet is deleted too.
        for (id, call) in calls where call.name == name && call.stamp != nil { calls[id] = (name, 0) }
        calls[call] = (name, nil)
        underWay[name] = []
        changedSince.insert(name)
        copies[name] = nil
        expected[name] = nil
        feed(.calls(.enqueue(call, [NewChange(name: name, kind: .delete, edited: harness.now.wall)])))
    }

    mutating func end(_ call: CallID, _ answer: CallAnswer) {
        waiting.remove(call)
        guard let (name, stamp) = calls.removeValue(forKey: call) else { return }
        log.append("    call \(call) ends: \(answer)")
        if !calls.values.contains(where: { $0.name == name }) { underWay[name] = nil }
        guard answer == .done else {
            unsaved.insert(name)
            // The app started over on top of a deletion that failed.
            if stamp == nil { startedAnew.insert(name) }
            return
        }
        endedCalls[name, default: 0] += 1
        unsaved.remove(name)
        if stamp != nil, stamp != 0, startedAnew.remove(name) != nil { expected[name] = nil }
        guard let stamp else {
            if !madeAnew.contains(name) { deletedHere.insert(name) }
            return
        }
        deletedHere.remove(name)
        if stamp > 0, removed[name]?.contains(stamp) != true { expected[name, default: []].insert(stamp) }
    }

    mutating func discard(_ name: String) {
        let call = harness.newCall()
        log.append("discards \(name), call \(call)")
        expected[name] = nil
        deletedHere.remove(name)
        // An edit that is not stored yet may be discarded as well, or not.
        for (id, call) in calls where call.name == name { calls[id] = (name, 0) }
        feed(.calls(.discard(call, names: [name])))
        if !options.consumes { copies[name] = nil }
    }

    /// Finishes decoding an element; changes overtaken meanwhile are not handed out.
    mutating func finishDecoding() {
        guard !decoding.isEmpty else { return }
        let element = decoding.removeFirst()
        let overtaken = harness.machine.overtaken(in: stream)
        let left = element.items.filter { !overtaken.contains($0.key) }
        for item in left where endedCalls[item.name] != element.endedCalls[item.name] {
            faults.append("\(item.name) is handed out after the app has changed it")
        }
        log.append("hands out \(left), not \(overtaken)")
        held = left
        changedSince = Set(underWay.keys)
        if !overtaken.isEmpty { feed(.delivery(.overtaken(stream, overtaken, isEmpty: left.isEmpty))) }
    }

    /// The app's loop accepts its element and requests the next.
    mutating func ask() {
        // The loop is still waiting and cannot request more.
        if !decoding.isEmpty { return }
        log.append("asks the stream")
        for item in held {
            if changedSince.contains(item.name) {
                // The element may still have stamps that the app has removed.
                let news = (stamps(item.kind.handle) ?? []).subtracting(removed[item.name] ?? [])
                copies[item.name] = copies[item.name].map { $0.union(news) }
                unsaved.insert(item.name)
            } else {
                copies[item.name] = stamps(item.kind.handle)
                unsaved.remove(item.name)
            }
        }
        held = []
        feed(.delivery(.streamRequested(stream)))
    }

    // MARK: The second loop

    mutating func giveSecond(_ items: [DeliveryItem]) {
        log.append("the second loop gets \(items)")
        for item in items {
            let order = harness.state.untoldNews(of: RecordKey(item.name))?.number ?? 0
            if order > 0, secondHasTaken[item.name] == order {
                faults.append("the second loop gets \(item.name) twice")
            }
            secondHolds[item.name] = order
        }
    }

    mutating func askSecond() {
        log.append("asks the second stream")
        secondHasTaken.merge(secondHolds) { $1 }
        secondHolds = [:]
        feed(.delivery(.streamRequested(stream + 1000)))
    }

    // MARK: The model

    mutating func reconcile() {
        let items = harness.conflicts
        if items.isEmpty { return }
        let results = items.map { item in
            let (resolution, wasAsked) = decide(item)
            return Reconciled(item: item, resolution: resolution, wasAsked: wasAsked)
        }
        log.append("reconciled \(results)")
        feed(.reconciled(results))
    }

    /// The model drops stamps, including those of calls that have not ended.
    private mutating func giveUp(_ stamps: Stamps, of name: String) {
        expected[name]?.subtract(stamps)
        for (id, call) in calls where call.name == name && call.stamp.map(stamps.contains) == true {
            calls[id] = (name, 0)
        }
    }

    mutating func decide(_ item: ReconcileItem) -> (Resolution, Bool) {
        let client = values[item.client] ?? []
        guard let server = stamps(item.server) else {
            if options.keepsDeleted { return (.client, true) }
            giveUp(client, of: item.name)
            return (.server, true)
        }
        if client == server { return (.confirmed(item.client), false) }
        for sent in item.sent where values[sent.handle] == server { return (.confirmed(sent.handle), false) }
        switch options.resolves {
        case .union: break
        case .cloud:
            expected[item.name]?.formIntersection(server)
            giveUp(client.subtracting(server), of: item.name)
            return (.server, true)
        case .fails: return (.failed(ParkReason(kind: .resolverFailed, message: "no")), true)
        }
        var union = client.union(server)
        if options.removes {
            let ancestor = stamps(item.ancestor) ?? []
            union.subtract(ancestor.subtracting(client).union(ancestor.subtracting(server)))
        }
        if union == server { return (.server, true) }
        if union == client { return (.client, true) }
        return (.merged(newHandle(union), size: 10, edited: item.clientEdited), true)
    }
}
