import RecordCoding

import struct Foundation.Date

/// Keeps the app's calls in the order in which they were made.
///
/// A call takes its place before it first suspends, so later work, such as encoding, cannot change the order.
/// Calls wait in one line, and each has its turn when the call before it has ended. An edit may have to wait
/// for the app's actor to run its closure, so it is not part of the line, and only calls for its records wait
/// for it. A call that waits for an edit is *delayed*: it leaves the line as well, and only later calls for
/// its records wait for it. A call about all records, such as a sync, waits for everything before it, and holds
/// up nothing while it waits for an edit.
final class CallQueue: Sendable {
    /// A call's place in the queue.
    final class Ticket: Sendable {
        fileprivate let id: UInt64
        private let queue: CallQueue
        /// The records that the call changes.
        let names: [ExactName]
        /// When the call was made.
        let date: Date
        /// The number of user switches that had begun when the call was made.
        let generation: Int
        /// The core's session whose models the call is about; `nil` if it is about no session in particular.
        let session: Int?

        fileprivate init(
            _ id: UInt64,
            in queue: CallQueue,
            of names: [ExactName] = [],
            at date: Date,
            generation: Int,
            session: Int? = nil
        ) {
            self.id = id
            self.queue = queue
            self.names = names
            self.date = date
            self.generation = generation
            self.session = session
        }

        /// Waits until all calls have ended that this call must not overtake.
        ///
        /// - Throws: The error for which the engine could not be opened; `CancellationError`.
        func turn() async throws { try await queue.turn(of: id) }

        /// Ends the call, so that later ones can have their turn; a second call has no effect.
        func end() { queue.end(id) }
    }

    /// A stream's request for its next element, which accepts the one before, with a place among the app's calls.
    struct Request: Sendable {
        let stream: StreamID
        /// The records of the element that it accepts.
        var accepting: [ExactName] = []
    }

    fileprivate struct Place {
        /// The records of an edit, or of a delayed call or request.
        var names: [ExactName] = []
        var request: Request?
        /// The number of places that must be removed first.
        var blockers = 0
        /// The places that wait for this one.
        var followers: [UInt64] = []
        /// Whether the place is removed as soon as it has no blockers.
        var isEnded = false
        var failure: (any Error)?
        var continuation: CheckedContinuation<Void, any Error>?
    }

    fileprivate struct State {
        var lastID: UInt64 = 0
        var places: [UInt64: Place] = [:]
        /// The last place in the line.
        var last: UInt64?
        /// The last edit of each record.
        var edits: [ExactName: UInt64] = [:]
        /// The last delayed call or request for each record.
        var delayed: [ExactName: UInt64] = [:]
        var due: [Request] = []
        var generation = 0
        /// The error of all calls that are made from now on.
        var refusal: (any Error)?
    }

    private let state = Locked(State())
    private let requestsAreDue: @Sendable () -> Void

    /// Creates an empty queue.
    ///
    /// - Parameter requestsAreDue: Called when a call has ended and requests are due.
    init(requestsAreDue: @escaping @Sendable () -> Void) {
        self.requestsAreDue = requestsAreDue
    }

    /// Takes a place for a call.
    ///
    /// - Parameters:
    ///   - names: The records that the call changes.
    ///   - isEdit: Whether only calls for these records wait for the call.
    ///   - date: When the call was made.
    ///   - session: The core's session whose models the call is about, if it is about one.
    /// - Returns: The place.
    func take(
        _ names: [String] = [],
        isEdit: Bool = false,
        at date: Date,
        session: Int? = nil
    ) -> Ticket {
        let names = names.map { ExactName($0) }
        return state.withLock { state in
            let id = state.append(names, isEdit: isEdit)
            return Ticket(
                id,
                in: self,
                of: names,
                at: date,
                generation: state.generation,
                session: session
            )
        }
    }

    /// Takes a place for a call about all records, which waits for all calls before it, edits included.
    ///
    /// - Parameter date: When the call was made.
    /// - Returns: The place. Later calls do not wait for it if it waits for an edit.
    func takeForAllRecords(at date: Date) -> Ticket {
        state.withLock { state in
            let id = state.appendForAllRecords()
            return Ticket(id, in: self, at: date, generation: state.generation)
        }
    }

    /// Adds a stream's request after the calls that the app has made so far.
    ///
    /// The request waits for these calls, but not for edits.
    func note(_ request: Request) {
        state.withLock { _ = $0.end($0.append(request.accepting, request: request)) }
    }

    /// Removes and returns the requests that are due, in their order.
    func takeRequests() -> [Request] {
        state.withLock { state in
            defer { state.due = [] }
            return state.due
        }
    }

    /// Begins a user switch: later calls are for the next user.
    ///
    /// - Parameter date: The current date.
    /// - Returns: A place that delays no other call. It has its turn when all earlier calls have ended, edits
    ///   included.
    func beginSwitch(at date: Date) -> Ticket {
        state.withLock { state in
            state.generation += 1
            return Ticket(state.insertBehindAll(), in: self, at: date, generation: state.generation)
        }
    }

    /// Makes all later calls throw an error.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - date: The current date.
    /// - Returns: A place that has its turn when all earlier calls have ended, edits included.
    func refuseLaterCalls(with error: any Error, at date: Date) -> Ticket {
        state.withLock { state in
            state.refusal = error
            return Ticket(state.insertBehindAll(), in: self, at: date, generation: state.generation)
        }
    }

    /// Whether no call and no request waits.
    var isEmpty: Bool { state.withLock { $0.places.isEmpty } }

    /// Returns once all calls have ended that were made before, edits included.
    ///
    /// - Parameter date: The current date.
    /// - Throws: The error for which the engine could not be opened; `CancellationError`.
    func waitForAll(at date: Date) async throws {
        let place = state.withLock { state in
            Ticket(state.insertBehindAll(), in: self, at: date, generation: state.generation)
        }
        try await place.turn()
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
        let (turns, isDue) = state.withLock { state in (state.end(id), !state.due.isEmpty) }
        if isDue { requestsAreDue() }
        for turn in turns { turn.resume() }
    }

    /// Makes all queued calls throw an error, because the engine could not be opened or was closed.
    func fail(with error: any Error) {
        let waiting = state.withLock { state in
            state.places.keys.sorted().compactMap { id in
                state.places[id]?.failure = error
                return state.takeContinuation(of: id)
            }
        }
        for one in waiting { one.resume(throwing: error) }
    }
}

extension CallQueue.State {
    /// Adds a call or a request.
    fileprivate mutating func append(
        _ names: [ExactName],
        isEdit: Bool = false,
        request: CallQueue.Request? = nil
    ) -> UInt64 {
        var blockers = Set(names.compactMap { delayed[$0] })
        if request == nil { blockers.formUnion(names.compactMap { edits[$0] }) }
        let isInLine = !isEdit && blockers.isEmpty
        if let last { blockers.insert(last) }
        let failure = request == nil ? refusal : nil
        let place = CallQueue.Place(names: isInLine ? [] : names, request: request, failure: failure)
        let id = insert(place, behind: blockers)
        if isInLine {
            last = id
        } else if isEdit {
            for name in names { edits[name] = id }
        } else {
            for name in names { delayed[name] = id }
        }
        return id
    }

    /// Adds a call about all records.
    ///
    /// It is part of the line, unless it waits for an edit or a delayed call.
    fileprivate mutating func appendForAllRecords() -> UInt64 {
        if edits.isEmpty, delayed.isEmpty { return append([]) }
        var blockers = Set(edits.values).union(delayed.values)
        if let last { blockers.insert(last) }
        return insert(CallQueue.Place(failure: refusal), behind: blockers)
    }

    /// Adds a place that delays no other call, behind all others.
    fileprivate mutating func insertBehindAll() -> UInt64 {
        let id = insert(CallQueue.Place(), behind: Set(places.keys))
        _ = end(id)
        return id
    }

    fileprivate mutating func insert(_ place: CallQueue.Place, behind blockers: Set<UInt64>) -> UInt64 {
        lastID += 1
        places[lastID] = place
        places[lastID]?.blockers = blockers.count
        for blocker in blockers { places[blocker]?.followers.append(lastID) }
        return lastID
    }

    /// Ends a call, and removes every later place that has already ended and has no other blockers.
    ///
    /// - Returns: The waiting calls that have their turn now.
    fileprivate mutating func end(_ id: UInt64) -> [CheckedContinuation<Void, any Error>] {
        var turns: [CheckedContinuation<Void, any Error>] = []
        places[id]?.isEnded = true
        var free = places[id]?.blockers == 0 ? [id] : []
        while let id = free.popLast() {
            guard let place = places.removeValue(forKey: id) else { continue }
            if let request = place.request { due.append(request) }
            if last == id { last = nil }
            for name in place.names {
                if edits[name] == id { edits[name] = nil }
                if delayed[name] == id { delayed[name] = nil }
            }
            for follower in place.followers {
                places[follower]?.blockers -= 1
                guard places[follower]?.blockers == 0 else { continue }
                if let continuation = takeContinuation(of: follower) { turns.append(continuation) }
                if places[follower]?.isEnded == true { free.append(follower) }
            }
        }
        return turns
    }

    fileprivate mutating func takeContinuation(of id: UInt64) -> CheckedContinuation<Void, any Error>? {
        defer { places[id]?.continuation = nil }
        return places[id]?.continuation
    }
}
