import RecordCoding

@testable import CodableSync

/// Ending turns, and refusing them.
extension MachineHarness {
    /// The state without what the open turn has changed.
    var storedState: SyncState { (before ?? machine).state }

    var isTurnOpen: Bool { before != nil }

    /// What the open turn would store.
    var changes: TurnChanges {
        var ended = machine
        if case .store(let changes)? = ended.endTurn(at: now).first { return changes }
        return TurnChanges()
    }

    /// Handles one input in the open turn, which does not end.
    mutating func feed(_ input: SyncInput) {
        end(input)
        if before == nil { before = machine }
        inputs.append(input)
        let former = state
        machine.handle(input, at: now)
        checkEnds(since: former, input)
        machine.assertInvariants(after: input)
    }

    private mutating func checkEnds(since former: SyncState, _ input: SyncInput) {
        for name in watched {
            guard let change = former[name]?.pending, state[name]?.pending?.kind != change.kind else {
                continue
            }
            if !input.mayEnd(change, of: name, requests) {
                faults.append("\(input) ends the change of \(name)")
            }
        }
    }

    /// Handles one input, and ends the turn.
    @discardableResult
    mutating func run(_ input: SyncInput) -> [SyncAction] {
        feed(input)
        return commitAll()
    }

    /// Ends the open turn, and stores it.
    @discardableResult
    mutating func commitNext() -> [SyncAction] {
        guard isTurnOpen else { return [] }
        return finish(machine.endTurn(at: now))
    }

    @discardableResult
    mutating func commitAll() -> [SyncAction] {
        var actions: [SyncAction] = []
        for _ in 0..<200 where isTurnOpen { actions += commitNext() }
        if isTurnOpen { faults.append("the machine never stops") }
        return actions
    }

    /// Ends the open turn, which the disk refuses, if there is anything to store.
    ///
    /// - Parameters:
    ///   - failure: Why.
    ///   - isRefused: Which of the writes is refused, since each input is then tried by itself.
    /// - Returns: The actions.
    @discardableResult
    mutating func failNextCommit(
        _ failure: JournalFailure = .storageFull("full"),
        where isRefused: (TurnChanges) -> Bool = { _ in true }
    ) -> [SyncAction] {
        guard let before else { return [] }
        if changes.isEmpty { return commitNext() }
        var stored: [StateRow] = []
        machine = before
        let actions = machine.takeAgain(inputs, after: failure, at: now) { changes, _ in
            if isRefused(changes) { return failure }
            stored += changes.rows
            return nil
        }
        rows += stored
        return finish(actions)
    }

    private mutating func finish(_ actions: [SyncAction]) -> [SyncAction] {
        let inputs = inputs
        (before, self.inputs) = (nil, [])
        machine.assertInvariants(after: inputs.last ?? .opened)
        closeAbandoned()
        for action in actions { note(action) }
        checkTime()
        let others = actions.filter { if case .wake = $0 { false } else { true } }
        var actions = answerCheck(answerPosition(answerRenewal(others, after: inputs)))
        // As the engine does.
        if case .store? = actions.first, machine.isDiskRefusing { actions += run(.delivery(.storable)) }
        return actions
    }
}
