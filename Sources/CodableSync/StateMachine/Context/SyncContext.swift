import RecordCoding

import struct Foundation.Date

/// The context that all rooms share: the state and its journal, the time, and the effects of the current
/// input.
struct SyncContext: Sendable {
    var configuration: MachineConfiguration
    /// The durable state; it changes only through ``append(_:by:)``.
    var state: SyncState
    /// What the turn has changed.
    var log = TurnLog()
    /// Whether something is stored and not flushed.
    var isUnflushed = false
    /// When it is flushed at the latest.
    var flushAt: Duration?
    /// Whether entries are dropped, because they could not be stored.
    var isDroppingEntries = false
    var counts = SyncCounts()
    var serverWait = ServerWait()
    /// Whether waits that the server orders begin; not while a held response is processed.
    var obeysWaits = true
    /// The time of the current input.
    var now: Moment
    /// What the engine must do once the turn is stored, in order within each lane.
    var actions: [SyncAction] = []
    /// The notices that the machine has yet to pass on to other rooms.
    var notices: [Notice] = []
    private(set) var lastNumber: UInt64
    private var random: SplitMix64

    /// - Parameters:
    ///   - state: The state read from the journal.
    ///   - configuration: The settings.
    ///   - now: The current time.
    ///   - lastNumber: The last number that was assigned; late responses to earlier requests match no new one.
    init(state: SyncState, configuration: MachineConfiguration, at now: Moment, lastNumber: UInt64 = 0) {
        self.state = state
        self.configuration = configuration
        self.now = now
        self.lastNumber = lastNumber
        random = SplitMix64(seed: configuration.seed)
        self.state.forgetWhatChanged()
        self.state.beginImage()
        serverWait.resume(from: state.summary, at: now)
    }

    mutating func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    mutating func nextRandom() -> UInt64 { random.next() }

    /// The time of the next attempt after another failure.
    mutating func nextTry(after backoff: inout Backoff) -> Duration {
        let wait = backoff.next(using: &random)
        return max(now.monotonic + wait, serverWait.until ?? .zero)
    }

    func wallDate(at instant: Duration) -> Date { now.wallDate(at: instant) }

    // MARK: Telling the app and other rooms

    mutating func emit(_ event: SyncEvent) {
        actions.append(.report(.event(event)))
    }

    mutating func tell(_ notice: Notice) {
        notices.append(notice)
    }

    /// Fails the callers that wait for a part of the work, or all callers if no part is given.
    mutating func failCallers(_ error: CloudError, of part: SyncParts? = nil) {
        var failure = SyncError.cloud(error)
        if error.retryAfter != nil { failure.retryDate = serverWaitEnd }
        tell(.failed(failure, of: part))
    }

    /// Passes on an error that affects the whole engine; returns whether it is one, so that the lane need not
    /// retry.
    mutating func affectsEngine(_ error: CloudError) -> Bool {
        switch error.recovery {
        case .waitForAccount, .stop:
            tell(.unusable(error))
            return true
        case .recreateZone, .askUser, .uploadEverything:
            tell(.zoneMissing(error))
            return true
        default: return false
        }
    }

    // MARK: Entries that several rooms make

    func note(_ kind: SyncNote.Kind, _ name: String?, _ message: String) -> JournalEntry {
        .note(SyncNote(kind: kind, date: now.wall, recordName: name, message: message))
    }

    func park(_ key: RecordKey, _ reason: ParkReason) -> [JournalEntry] {
        [.sending(.parked(key, reason)), note(.parked, key.recordName, reason.message)]
    }

    /// Queues a look-up that survives a restart.
    mutating func lookUpDurably(_ key: RecordKey) -> [JournalEntry] {
        tell(.lookUp(key))
        return [.fetching(.lookUpNeeded(key.zone, [key.name]))]
    }

    /// Counts a deletion by another device, if the record was known and this device did not delete it.
    mutating func countForeignDeletion(_ key: RecordKey) {
        guard let record = state[key], record.known != nil, !record.isOwnDeletion else { return }
        counts.countForeignDeletion()
    }
}
