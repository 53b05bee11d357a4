import RecordCoding

/// Replacing a user's state with another user's while the app continues to use the engine.
///
/// Calls made during the switch wait for the new state. Earlier calls belong to the former user, and their
/// changes are stored in that user's state. If the configuration removes that user's records, the core
/// removes them after these calls, which may be based on them. The file that begins the new user's part of their own
/// state commits the switch. After a crash before it is written, the engine opens the former user's state;
/// after a later crash, the new user's. In both cases the next account look-up finds the right user.
extension SyncCore {
    func switchUser(to user: String) {
        guard case .open = phase else { return }
        let place = pendingSwitch ?? callQueue.beginSwitch(at: now.wall)
        pendingSwitch = place
        phase = .switching(Task { try await performSwitch(to: user, place) })
    }

    private func performSwitch(to user: String, _ ticket: CallQueue.Ticket) async throws {
        defer { notifyWatchers() }
        do {
            try await exchangeState(for: user, ticket)
        } catch {
            let failure = error as? SyncError ?? .storageFailed("\(error)")
            if case .switching = phase {
                phase = .open
                process(.account(.switchFailed(failure)))
            }
            throw failure
        }
    }

    private func exchangeState(for user: String, _ ticket: CallQueue.Ticket) async throws {
        guard let files, let place else { throw SyncError.closed }
        try await ticket.turn()
        takeRequests()
        process(.account(.formerCallsEnded))
        var opened = try await place.location.open(
            for: user,
            in: place.directory,
            beside: place.number,
            at: now
        )
        do {
            takeRequests()
            try await settle()
            opened = try await place.location.enter(
                opened,
                from: machine?.formerUserToTell,
                after: machine?.state.summary.switchCount ?? 0,
                startsOver: machine?.state.summary.isFollowed == true
            )
        } catch {
            opened.store.close()
            throw error
        }
        // What the former user's last turns answer is answered before.
        while !isStored, machine != nil { await wait { $0.isStored || $0.machine == nil } }
        // Tasks that still read the former user's closed files are ignored from now on, because of their
        // session.
        storing.isPaused = true
        session += 1
        notifyWatchers()
        await files.close(keepsDirectory: true)
        guard case .switching = phase, var former = machine else {
            opened.close()
            throw SyncError.closed
        }
        resources.endRequests()
        // The app may have stopped the engine in the meantime.
        perform(former.takeAnswers(), StoredContents())
        adopt(opened, SyncStateMachine(goingOnFrom: former, state: opened.state, at: now))
        process(.opened)
        reportSwitch()
    }

    /// Notifies the app of the switch that led to this state, unless it was already notified.
    func reportSwitch() {
        guard let untold = machine?.state.summary.untoldSwitch else { return }
        process(.account(.switched(from: untold.from)))
    }

    /// Stores that the app was notified of a switch.
    ///
    /// If that fails, it is notified again after the next opening.
    func noteToldSwitch() {
        if machine?.state.summary.untoldSwitch != nil { process(.account(.switchTold)) }
    }

    /// Waits until the former user's calls are stored, together with everything that follows from them, and
    /// have returned.
    private func settle() async throws {
        try checkSwitching()
        if let failure = await settleTurn() { throw failure.syncError }
        try checkSwitching()
    }

    private func checkSwitching() throws {
        guard case .switching = phase else { throw SyncError.closed }
    }

    /// Performs asynchronous work on one user's state, and repeats it if the state is replaced in the
    /// meantime.
    func inOneSession<Value: Sendable>(_ work: () async throws -> Value) async throws -> Value {
        while true {
            try await ready()
            let began = session
            do {
                let value = try await work()
                if began == session { return value }
            } catch {
                if began == session { throw error }
            }
        }
    }
}
