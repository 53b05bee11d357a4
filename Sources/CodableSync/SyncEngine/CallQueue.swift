import RecordCoding

import struct Foundation.Date

/// The app's calls, in the order in which they were made.
///
/// A call takes its place before it first suspends, so that what is made ready meanwhile, such as an encoding,
/// changes no order. Calls have their turn one after the other; an edit, whose closure waits for the app's actor,
/// holds up the calls for its own records only.
final class CallQueue: Sendable {
    /// A call's place; given up by ``end()``, at the latest when the call returns.
    final class Ticket: Sendable {
        fileprivate let id: UInt64
        private let queue: CallQueue
        /// When the call was made.
        let date: Date
        /// How many switches of users had begun before.
        let generation: Int

        fileprivate init(_ id: UInt64, in queue: CallQueue, at date: Date, generation: Int) {
            self.id = id
            self.queue = queue
            self.date = date
            self.generation = generation
        }

        /// Waits until all calls before this one are done that it must not overtake.
        ///
        /// - Throws: Why the engine could not be opened, if it could not; `CancellationError`.
        func turn() async throws { try await queue.turn(of: id) }

        /// Gives the place up; the second time it does nothing.
        func end() { queue.end(id) }
    }

    /// What the app was given, in its place between the calls.
    enum Note: Sendable {
        /// What a read returned, of the state and the zone of then.
        case read(session: Int, losses: Int, [GivenContents])
        /// A stream asks for its next element, and so accepts the one before.
        case request(StreamID)
    }

    fileprivate struct Place {
        var names: [ExactName]
        var generation: Int
        /// How many calls must end before.
        var blockers = 0
        /// The calls that wait for this one.
        var followers: [UInt64] = []
        var note: Note?
        /// It is done already, and must be waited for no longer than those before it.
        var isEnded = false
        var failure: (any Error)?
        var continuation: CheckedContinuation<Void, any Error>?
    }

    fileprivate struct State {
        var lastID: UInt64 = 0
        var places: [UInt64: Place] = [:]
        /// The last call that is not an edit: the next call waits for it.
        var last: UInt64?
        /// The last edit of each record.
        var edits: [ExactName: UInt64] = [:]
        var due: [Note] = []
        var generation = 0
        var watchers: [(generation: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Locked(State())
    private let tellDue: @Sendable () -> Void

    /// Makes an empty queue.
    ///
    /// - Parameter tellDue: Is called when notes have waited for a call, and their turn has come.
    init(tellDue: @escaping @Sendable () -> Void) {
        self.tellDue = tellDue
    }

    /// Takes a place, for a call about these records.
    ///
    /// - Parameters:
    ///   - names: The records that are changed.
    ///   - isEdit: Whether the call is an edit, which only calls for its own records wait for.
    ///   - date: When the call was made.
    /// - Returns: The place.
    func take(_ names: [String] = [], isEdit: Bool = false, at date: Date) -> Ticket {
        state.withLock { state in
            let id = state.append(names.map { ExactName($0) }, isEdit: isEdit, note: nil)
            return Ticket(id, in: self, at: date, generation: state.generation)
        }
    }

    /// Enters what the app is given, at the moment when it is.
    func note(_ note: Note) {
        state.withLock { state in
            _ = state.append([], isEdit: false, note: note)
        }
    }

    /// The notes whose turn has come, oldest first.
    func takeNotes() -> [Note] {
        state.withLock { state in
            defer { state.due = [] }
            return state.due
        }
    }

    private func turn(of id: UInt64) async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Void, any Error>) in
                let result = state.withLock { state -> Result<Void, any Error>? in
                    if Task.isCancelled { return .failure(CancellationError()) }
                    guard let place = state.places[id] else { return .success(()) }
                    if let failure = place.failure { return .failure(failure) }
                    if place.blockers == 0 { return .success(()) }
                    state.places[id]?.continuation = continuation
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            state.withLock { $0.takeContinuation(of: id) }?.resume(throwing: CancellationError())
        }
    }

    private func end(_ id: UInt64) {
        let (turns, watchers, isDue) = state.withLock { state in
            (state.end(id), state.takeWatchers(), !state.due.isEmpty)
        }
        if isDue { tellDue() }
        for turn in turns { turn.resume() }
        for watcher in watchers { watcher.resume() }
    }

    /// The engine could not be opened: all calls that are there throw the error.
    func fail(with error: any Error) {
        let waiting = state.withLock { state in
            state.places.keys.sorted().compactMap { id in
                state.places[id]?.failure = error
                return state.takeContinuation(of: id)
            }
        }
        for one in waiting { one.resume(throwing: error) }
    }

    // MARK: Switches of users

    /// A switch begins: the calls from now on are for the next user.
    ///
    /// - Returns: The number of the calls from now on.
    func beginGeneration() -> Int {
        state.withLock { state in
            state.generation += 1
            return state.generation
        }
    }

    /// Waits until the calls from before a switch are done.
    func settle(before generation: Int) async {
        await withCheckedContinuation { continuation in
            let isSettled = state.withLock { state in
                if state.isSettled(before: generation) { return true }
                state.watchers.append((generation, continuation))
                return false
            }
            if isSettled { continuation.resume() }
        }
    }
}

extension CallQueue.State {
    fileprivate mutating func append(
        _ names: [ExactName],
        isEdit: Bool,
        note: CallQueue.Note?
    ) -> UInt64 {
        lastID += 1
        let id = lastID
        var blockers: Set<UInt64> = []
        if let last { blockers.insert(last) }
        for name in names { if let edit = edits[name] { blockers.insert(edit) } }
        for blocker in blockers { places[blocker]?.followers.append(id) }
        places[id] = CallQueue.Place(
            names: isEdit ? names : [],
            generation: generation,
            blockers: blockers.count,
            note: note
        )
        if isEdit {
            for name in names { edits[name] = id }
        } else {
            last = id
        }
        if note != nil, blockers.isEmpty { _ = end(id) }
        return id
    }

    /// Ends a call, and the notes whose turn has come by that.
    ///
    /// - Returns: The calls whose turn has come, and that wait for it.
    fileprivate mutating func end(_ id: UInt64) -> [CheckedContinuation<Void, any Error>] {
        var turns: [CheckedContinuation<Void, any Error>] = []
        var ended = [id]
        while let id = ended.popLast() {
            // Who waits for it waits for those before it.
            if let blockers = places[id]?.blockers, blockers > 0 {
                places[id]?.isEnded = true
                continue
            }
            guard let place = places.removeValue(forKey: id) else { continue }
            if let note = place.note { due.append(note) }
            if last == id { last = nil }
            for name in place.names where edits[name] == id { edits[name] = nil }
            for follower in place.followers {
                places[follower]?.blockers -= 1
                guard places[follower]?.blockers == 0 else { continue }
                if places[follower]?.note != nil || places[follower]?.isEnded == true {
                    ended.append(follower)
                } else if let continuation = takeContinuation(of: follower) {
                    turns.append(continuation)
                }
            }
        }
        return turns
    }

    fileprivate mutating func takeContinuation(of id: UInt64) -> CheckedContinuation<Void, any Error>? {
        defer { places[id]?.continuation = nil }
        return places[id]?.continuation
    }

    fileprivate func isSettled(before generation: Int) -> Bool {
        !places.values.contains { $0.generation < generation }
    }

    fileprivate mutating func takeWatchers() -> [CheckedContinuation<Void, Never>] {
        if watchers.isEmpty { return [] }
        var settled: [CheckedContinuation<Void, Never>] = []
        var left: [(generation: Int, continuation: CheckedContinuation<Void, Never>)] = []
        for watcher in watchers {
            if isSettled(before: watcher.generation) {
                settled.append(watcher.continuation)
            } else {
                left.append(watcher)
            }
        }
        watchers = left
        return settled
    }
}
