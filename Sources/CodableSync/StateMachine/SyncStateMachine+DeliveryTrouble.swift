/// Changes with problems in delivery: undecodable, unreadable, or possibly crashing the app.
extension SyncStateMachine {
    // MARK: Changes that a process held when it ended

    /// Finds the records whose changes the previous process held when it ended.
    ///
    /// Complexity: O(n) in the number of undelivered records, once for each opening, if there are any
    /// suspects.
    mutating func findSuspects() {
        let handedOut = state.summary.handedOut
        if handedOut.isEmpty { return }
        var alone: [(name: String, place: Int)] = []
        for name in state.deliveryQueue.names {
            guard let order = state[name]?.undelivered?.order else { continue }
            if handedOut.together.contains(order) { suspects.append(name) }
            if let place = handedOut.alone.firstIndex(of: order) { alone.append((name, place)) }
        }
        for (name, _) in alone.sorted(by: { $0.place < $1.place }) { suspects.append(name) }
    }

    /// Clears the suspicion of changes that the app has accepted without crashing.
    mutating func forgetSuspicions(of changes: [AcceptedChange]) {
        if suspects.isEmpty { return }
        for change in changes where change.order != 0 { suspects.remove(change.name) }
    }

    // MARK: Changes that were replaced before they were delivered

    /// The records in a stream's element that are outdated: during decoding, the app changed the record or a
    /// newer version arrived.
    package func overtakenNames(in id: StreamID) -> [String] {
        guard let stream = streams.first(where: { $0.id == id }) else { return [] }
        return stream.handed.filter { state[$0.name]?.undelivered?.order != $0.order }.map(\.name)
    }

    /// Drops outdated changes; anything newer to deliver is in the stream's queue.
    mutating func takeOvertaken(_ id: StreamID, _ names: [String], isEmpty: Bool) {
        guard let index = streams.firstIndex(where: { $0.id == id }) else { return }
        streams[index].handed.removeAll { names.contains($0.name) }
        if isEmpty, streams[index].stage == .holding { streams[index].stage = .asking }
    }

    // MARK: Contents that cannot be decoded

    /// Keeps changes that could not be decoded; they are tried again at the next opening.
    mutating func takeUndecodable(_ id: StreamID, _ changes: [UndecodableChange], isEmpty: Bool) {
        guard let index = streams.firstIndex(where: { $0.id == id }) else { return }
        for change in changes {
            guard let place = streams[index].handed.firstIndex(where: { $0.name == change.name }) else {
                continue
            }
            let handed = streams[index].handed.remove(at: place)
            // A newer change is in the queue; this one's contents may no longer be on disk.
            guard state[change.name]?.undelivered?.order == handed.order else { continue }
            if undecodable[change.name] == handed.order { continue }
            undecodable[change.name] = handed.order
            // A read has already reported it.
            if let told = readInVain[change.name], told == state[change.name]?.undelivered?.kind.handle {
                continue
            }
            emit(.undecodable(recordName: change.name, reason: change.reason))
        }
        if isEmpty, streams[index].stage == .holding { streams[index].stage = .asking }
    }

    /// Reports once that the cloud's version of a record cannot be decoded, even if no stream gets it.
    ///
    /// An edit that cannot be decoded is handled when it is sent; one whose contents are lost is reported at
    /// once.
    mutating func reportUndecodable(_ version: ReadVersion) {
        guard let record = state[version.name],
            version.isLost ? record.holds(version.handle) : record.known?.handle == version.handle,
            readInVain[version.name] != version.handle
        else { return }
        readInVain[version.name] = version.handle
        if let undelivered = record.undelivered, undecodable[version.name] == undelivered.order { return }
        if version.isLost, let known = record.known, lookedUpAgain[version.name] == known.changeTag { return }
        emit(.undecodable(recordName: version.name, reason: version.reason))
    }

    /// Looks up, once for each version, a record whose stored copy is unreadable, to replace the copy.
    mutating func lookUpLost(_ version: ReadVersion) -> [JournalEntry] {
        guard let known = state[version.name]?.known, known.handle == version.handle,
            lookedUpAgain[version.name] != known.changeTag, inFlightNames[version.name] == nil
        else { return [] }
        lookedUpAgain[version.name] = known.changeTag
        return lookUpNow(version.name)
    }

    /// Repoints elements that streams hold from former contents to new ones: another copy, or the version
    /// that a save created.
    mutating func repointHanded(_ name: String, from former: ContentHandle, to handle: ContentHandle) {
        for index in streams.indices {
            for place in streams[index].handed.indices where streams[index].handed[place].name == name {
                streams[index].handed[place].repoint(from: former, to: handle)
            }
        }
    }

    /// The records that were found undecodable since the engine was opened and have not changed since.
    ///
    /// Complexity: O(n log n) in the number of undecodable records.
    package var undecodableNames: [String] {
        var names = RecordTable<Bool>()
        for name in undecodable.sortedNames where undecodable[name] == state[name]?.undelivered?.order {
            names[name] = true
        }
        for name in readInVain.sortedNames {
            guard let handle = readInVain[name], state[name]?.holds(handle) == true else { continue }
            names[name] = true
        }
        return names.sortedNames
    }

    // MARK: Contents that cannot be read or written at the moment

    /// Retries changes that cannot be read after a wait; the stream continues with the others.
    mutating func takeUnread(_ id: StreamID, _ names: [String], isEmpty: Bool) {
        guard let index = streams.firstIndex(where: { $0.id == id }) else { return }
        streams[index].handed.removeAll { names.contains($0.name) }
        for name in names { streams[index].append(name, isSuspect: suspects.contains(name)) }
        if isEmpty, streams[index].stage == .holding { streams[index].stage = .asking }
        backOff(\.delivering, .deliverRetry, after: nil)
    }

    /// Keeps acceptances that could not be stored, to store them later.
    mutating func keepUnstoredAcceptances(_ entries: [JournalEntry]) {
        for case .accepted(let changes) in entries { unstoredAcceptances += changes.filter(isOpen) }
    }

    /// Whether an acceptance still applies.
    private func isOpen(_ accepted: AcceptedChange) -> Bool {
        accepted.order != 0 && state[accepted.name]?.undelivered?.order == accepted.order
    }

    /// Stores acceptances that could not be stored before.
    mutating func acceptAgain() {
        if unstoredAcceptances.isEmpty { return }
        let changes = unstoredAcceptances.filter(isOpen)
        unstoredAcceptances = []
        if !changes.isEmpty { append([.accepted(changes)], flush: false) }
    }
}
