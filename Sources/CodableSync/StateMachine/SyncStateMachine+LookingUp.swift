import RecordCoding

/// Looking records up by name: after conflicts without the server's record, and after pages with unreadable
/// records.
extension SyncStateMachine {
    /// The maximum number of records in one look-up; it is reduced if the server accepts fewer.
    static var maximumLookUp: Int { 200 }

    mutating func advanceLookingUp() {
        guard !lookUps.isEmpty, isReady, isSlotFree, !isWaiting(lookingUp) else { return }
        // The names stay in the queue until the response is stored: a change is not sent while its record is
        // looked up.
        let names = Array(lookUps.names.prefix(min(configuration.maximumItems, lookUpLimit)))
        beingLookedUp = names
        request(\.lookingUp) { .lookUp($0, names) }
    }

    /// Queues a look-up that survives a restart.
    mutating func lookUpNow(_ name: String) -> [JournalEntry] {
        lookUps.append(name)
        return [.unread([name])]
    }

    mutating func takeLookedUp(_ request: RequestID, _ result: Result<[LookedUp], CloudError>) {
        guard isAnswer(request, in: \.lookingUp) else { return }
        switch result {
        case .success(let found):
            lookingUp.backoff.reset()
            lookUpLimit = min(Self.maximumLookUp, lookUpLimit * 2)
            take(found)
        case .failure(let error): failLookUp(error)
        }
    }

    private mutating func failLookUp(_ error: CloudError) {
        let names = beingLookedUp
        heed(error)
        switch error.recovery {
        case .split where names.count > 1, .park where names.count > 1:
            // Either there are too many, or the server refuses one of them without naming it: try half as
            // many.
            lookUpLimit = names.count / 2
            beingLookedUp = []
        case .park:
            take(names.map { LookedUp(name: $0, result: .failure(error)) })
        default:
            beingLookedUp = []
            emit(.failed(error))
            failWaiters(error)
            if !meetsWholeEngine(error) { backOff(\.lookingUp, .lookUpRetry, after: error) }
        }
    }

    private mutating func take(_ found: [LookedUp]) {
        var unmentioned = RecordTable<Bool>()
        for name in beingLookedUp { unmentioned[name] = true }
        var entries: [JournalEntry] = []
        for one in found where unmentioned[one.name] == true {
            unmentioned[one.name] = nil
            entries += self.entries(for: one)
        }
        for name in unmentioned.sortedNames {
            emit(.unmentioned(recordName: name))
            lookUpAgain(name, after: nil)
        }
        if entries.isEmpty {
            endLookUp()
        } else {
            lookingUp.isStoring = true
            append(entries, then: .lookedUp)
        }
    }

    /// Removes the names from the queue, now that the results are stored.
    mutating func endLookUp() {
        lookingUp.isStoring = false
        for name in beingLookedUp { lookUps.remove(name) }
        beingLookedUp = []
        extendPass()
    }

    private mutating func entries(for found: LookedUp) -> [JournalEntry] {
        let name = found.name
        if case .failure(let error) = found.result { heed(error) }
        switch found.result {
        case .success(let version?): return entries(for: name, found: version)
        case .success(nil):
            // The server reported a conflict with a record that does not exist.
            if let record = state[name], record.known == nil, record.isSendable, !record.isUnread {
                return refusedWithoutReason(name)
            }
            countForeignDeletion(name)
            return [.fetchedDeletion(name: name)]
        case .failure(let error) where error.recovery == .park:
            guard state[name]?.pending != nil else {
                emit(.failed(error))
                return []
            }
            return park(name, ParkReason(kind: .refused, message: error.description))
        case .failure(let error):
            lookUpAgain(name, after: error)
            return []
        }
    }

    private mutating func entries(for name: String, found version: KnownVersion) -> [JournalEntry] {
        let record = state[name]
        if record?.known?.changeTag == version.changeTag {
            // The server reported a conflict with the version that the change is based on.
            if record?.isUnread != true, state.sendQueue.contains(name) { return refusedWithoutReason(name) }
        } else if needsNoDecision(name, on: version) {
            countUndecided(name)
        }
        // It may be this device's own save whose response was lost; the reconciler finds out.
        let isNews = record?.known?.isSameVersion(as: version) != true
        if isNews, record?.sent.isEmpty != false { countForeign() }
        var found = version
        // No other response has come since, so this is the server's version, whatever its date.
        if record?.known?.isNewer(than: version) == true { found.modified = nil }
        return [.fetched(name: name, found)]
    }

    private mutating func refusedWithoutReason(_ name: String) -> [JournalEntry] {
        let error = CloudError(
            .serverRecordChanged,
            message: "The server reports a conflict with the version that this device knows already."
        )
        deferItem(name, after: nil)
        return countUnknownError(name, sent: state[name]?.pending?.handle, error)
    }

    /// Retries later: sends the record's change again, or repeats the look-up if there is no change to send.
    private mutating func lookUpAgain(_ name: String, after error: CloudError?) {
        if state.sendQueue.contains(name) {
            deferItem(name, after: error)
        } else {
            beingLookedUp.removeAll { $0 == name }
            backOff(\.lookingUp, .lookUpRetry, after: error)
        }
    }

    /// The entries for a conflict, which the server reports with its version of the record.
    mutating func takeConflict(of name: String, with server: KnownVersion) -> [JournalEntry] {
        let sent = inFlightNames[name]?.known
        if let sent, sent.changeTag == server.changeTag { return refusedWithoutReason(name) }
        let isOld = sent?.isNewer(than: server) == true
        if isOld || needsNoDecision(name, on: server) { countUndecided(name) }
        // Either the version is outdated or its date is unreliable; a look-up decides.
        if isOld { return lookUpNow(name) }
        return [.fetched(name: name, server)]
    }
}
