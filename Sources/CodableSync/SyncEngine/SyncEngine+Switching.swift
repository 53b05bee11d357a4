import RecordCoding

/// Another user's state in the place of the former one's, while the app goes on to use the engine.
///
/// Callers that come meanwhile wait for the new state. What was called before belongs to the former user, and is
/// stored with them. The moment of the switch is one write, of the file that names the last known user: a crash
/// before it leaves the former user, one after it the new one, and the next look-up of the account sets it right.
extension SyncEngine {
    func switchUser(to user: String) {
        guard case .open = phase else { return }
        let place = pendingSwitch ?? callQueue.beginSwitch(at: now.wall)
        pendingSwitch = place
        phase = .switching(Task { try await performSwitch(to: user, place) })
    }

    private func performSwitch(to user: String, _ place: CallQueue.Ticket) async throws {
        defer { tellWatchers() }
        do {
            try await exchangeState(for: user, place)
        } catch {
            let failure = error as? SyncError ?? .stateUnreadable("\(error)")
            if case .switching = phase {
                phase = .open
                process(.switchFailed(failure))
            }
            throw failure
        }
    }

    private func exchangeState(for user: String, _ place: CallQueue.Ticket) async throws {
        guard let journal, let directory else { throw SyncError.closed }
        let opened = try await location.open(
            for: user,
            in: directory,
            leaving: StateUser(number: stateNumber, name: machine?.userRecordName),
            at: now
        )
        do {
            try await place.turn()
            takeNotes()
            try await settle(journal)
            let untold = UntoldSwitch(from: machine?.formerUserToTell)
            try await location.commit(opened, to: user, telling: untold)
        } catch {
            opened.store.close()
            throw error
        }
        // Whatever still reads the former user's files finds them closed: it is told that it came too late.
        session += 1
        tellWatchers()
        await journal.close(keepsDirectory: true)
        await outcomeTask?.value
        guard case .switching = phase, let former = machine else {
            opened.close()
            throw SyncError.closed
        }
        resources.endRequests()
        adopt(opened, SyncStateMachine(goingOnFrom: former, state: opened.state, at: now))
        tellOfSwitch()
    }

    /// Tells the app of the switch that has led to this state, unless it was told of it.
    func tellOfSwitch() {
        guard let untold = directory?.untoldSwitch else { return }
        process(.switched(from: untold.from))
        journal?.forgetUntoldSwitch()
    }

    /// Waits until what was called for the former user is stored, with all that follows from it, and the callers are
    /// told so.
    private func settle(_ journal: JournalLane) async throws {
        repeat {
            try checkSwitching()
            if let failure = await journal.settle() { throw failure.syncError }
            // What became of it is on its way to the machine, which may have more to store then.
            let mark = journal.mark
            await wait { $0.journalRest >= mark || $0.machine == nil }
        } while machine?.isStoring == true
        try checkSwitching()
    }

    private func checkSwitching() throws {
        guard case .switching = phase else { throw SyncError.closed }
    }

    /// Does something that waits on the way with one user's state, and again with the next one's if it is exchanged.
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
