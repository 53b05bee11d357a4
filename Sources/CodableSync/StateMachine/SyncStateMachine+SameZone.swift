import RecordCoding

// Another device may have recreated the zone after a loss that this device has not noticed. Everything known
// is from one zone: the one that existed at the stored position in the database's feed. A full listing, a
// look-up or a refused save may come from the next zone. Such a response is held while the feed is read from
// the stored position. If the feed reports no loss, the response is from the known zone, and the position
// advances. Otherwise the response is dropped, and requested again once the loss is stored. The held request
// keeps the slot, so only one is ever held.
extension SyncStateMachine {
    /// Whether a response is held and its contents are still needed.
    package var holdsAnswer: Bool { heldAnswer != nil }

    /// Whether the feed's position must be read before any record becomes known; a database without a feed
    /// has none.
    var isFeedPositionMissing: Bool { hasNoFeed ? false : state.summary.databaseToken == nil }

    /// Whether the zone exists and only the feed can tell whether it is another one.
    var isOnlyAsked: Bool { zoneDoubt?.recovery == .refetch }

    mutating func takeAnswer(_ answer: SyncInput) {
        guard state.summary.databaseToken != nil, let request = requestOfDoubtful(answer) else {
            return takeExamined(answer)
        }
        actions.append(.cancelTimer(.deadline(request)))
        heldAnswer = withoutWaits(answer)
        if zoneDoubt == nil { zoneDoubt = CloudError(.changeTokenExpired) }
    }

    private mutating func takeExamined(_ answer: SyncInput) {
        switch answer {
        case .fetched(let request, let result): takeFetched(request, result)
        case .lookedUp(let request, let result): takeLookedUp(request, result)
        case .sent(let request, let result): takeSent(request, result)
        default: break
        }
    }

    /// Keeps known records: no zone of this name was lost, so the held response is from the known zone.
    mutating func keepZone(_ token: ChangeToken?) {
        guard let token, token != state.summary.databaseToken else { return endDoubt() }
        setup.isStoring = true
        append([.databaseToken(token)], then: .zoneExamined)
    }

    /// Processes the response that was held while the feed was read.
    mutating func endDoubt() {
        zoneDoubt = nil
        isDoubtOfOwner = false
        guard let answer = heldAnswer else { return }
        heldAnswer = nil
        takeExamined(answer)
    }

    /// Stores the position in the feed before any record of the zone becomes known.
    mutating func takePosition(_ token: ChangeToken?) {
        guard let token else { return hasNoFeed = true }
        setup.isStoring = true
        append([.databaseToken(token)], then: .setup)
    }

    var holdsFirstPage: Bool {
        if case .fetched? = heldAnswer { true } else { false }
    }

    /// Whether a known version is missing from the held page; otherwise the loss is older than everything
    /// known and does not matter.
    ///
    /// Complexity: O(n log n), once for each lost zone.
    var knowsOfFormerZone: Bool {
        var shown = RecordTable<String>()
        if case .fetched(_, .success(let page))? = heldAnswer {
            for record in page.records { shown[record.name] = record.version.changeTag }
        }
        return state.sortedNames.contains { name in
            guard let record = state[name], record.hasVersions else { return false }
            guard let known = record.known, !known.changeTag.isEmpty else { return true }
            return shown[name] != known.changeTag
        }
    }

    // MARK: Which responses

    /// The request of a response that may come from another zone; `nil` if the response cannot.
    private func requestOfDoubtful(_ answer: SyncInput) -> RequestID? {
        switch answer {
        case .fetched(let request, .success):
            // A change token belongs to one zone; without one, the page may be from any zone.
            return fetching.request == request && state.summary.zoneToken == nil ? request : nil
        case .lookedUp(let request, .success(let found)):
            return lookingUp.request == request && found.contains(where: isDoubtful) ? request : nil
        case .sent(let request, .success(let results)):
            return sending.request == request && results.contains(where: isDoubtful) ? request : nil
        case .sent(let request, .failure(let error)):
            let isMissing = ([error] + error.itemErrors.values).contains { $0.recovery == .acceptDeletion }
            return sending.request == request && isMissing ? request : nil
        default: return nil
        }
    }

    private func isDoubtful(_ found: LookedUp) -> Bool {
        guard case .success(let version) = found.result, let record = state[found.name] else { return false }
        guard let known = record.known else { return record.hasVersions }
        return version?.isSameVersion(as: known) != true
    }

    private func isDoubtful(_ result: SendResult) -> Bool {
        guard state[result.name]?.hasVersions == true else { return false }
        switch result.outcome {
        case .conflict(.some): return true
        case .failed(let error): return error.recovery == .acceptDeletion && result.handle != nil
        default: return false
        }
    }

    /// Starts the waits that a response orders now rather than when the response is processed.
    private mutating func withoutWaits(_ answer: SyncInput) -> SyncInput {
        switch answer {
        case .sent(let request, .success(var results)):
            for index in results.indices {
                guard case .failed(let error) = results[index].outcome else { continue }
                results[index].outcome = .failed(obey(error))
            }
            return .sent(request, .success(results))
        case .sent(let request, .failure(var error)):
            error.itemErrors = error.itemErrors.mapValues { obey($0) }
            return .sent(request, .failure(obey(error)))
        case .lookedUp(let request, .success(let found)):
            return .lookedUp(
                request,
                .success(found.map { LookedUp(name: $0.name, result: $0.result.mapError { obey($0) }) })
            )
        default: return answer
        }
    }

    private mutating func obey(_ error: CloudError) -> CloudError {
        heed(error)
        var error = error
        error.retryAfter = nil
        return error
    }
}
