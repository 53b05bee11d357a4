import RecordCoding

/// Changes of the state; the turn stores them before anything else happens.
extension SyncContext {
    /// How long stored changes may stay unflushed.
    private static var flushDelay: Duration { .seconds(1) }

    /// Notes that work changes the state by itself.
    mutating func began(_ work: Subject) {
        if !state.isFrozen, !writers.contains(work) { writers.append(work) }
    }

    /// Whether the turn has changed the state.
    var hasChanged: Bool { state.image.map { $0.changeCount > 0 } ?? false }

    /// Flushes what was stored without a flush.
    mutating func flushRest() {
        guard flushAt != nil || hasChanged, state.image?.mustFlush == false else { return }
        state.promise()
        isFlushing = !state.isFrozen
    }

    mutating func note(_ kind: SyncNote.Kind, _ name: String?, _ message: String) {
        state.promise()
        state.keep(SyncNote(kind: kind, date: now.wall, recordName: name, message: message))
    }

    /// Receives a record that a late creation of this device has made, and notes that it is deleted again.
    mutating func receiveLateCreation(_ found: FetchedRecord) -> Bool {
        guard state.receiveLateCreation(found, at: now.wall) else { return false }
        if state[found.key]?.pending?.isDeletion == true {
            note(
                .discarded,
                found.name,
                "A creation reached the cloud after the deletion, which is repeated."
            )
        }
        return true
    }

    /// Receives the deletion of a record, and uploads the record again if the deletion may be a late one of this device.
    ///
    /// - Parameters:
    ///   - key: The record.
    ///   - isNews: Whether a deletion by another device counts.
    mutating func receiveDeletion(of key: RecordKey, isNews: Bool = true) {
        if state.receiveLateDeletion(of: key, at: now.wall) {
            let message = "A deletion reached the cloud after a later upload, which is repeated."
            return note(.discarded, key.recordName, message)
        }
        if isNews { countForeignDeletion(key) }
        state.receiveDeletion(of: key)
    }

    mutating func park(_ key: RecordKey, _ reason: ParkReason) {
        // An event must not say what the disk has refused.
        if state.isFrozen { return }
        state.park(key, reason)
        emit(.parked(recordName: key.recordName, reason))
        note(.parked, key.recordName, reason.message)
    }

    // MARK: The end of a turn

    /// Takes what the turn has changed.
    mutating func takeChanges() -> TurnChanges {
        let changes = state.changes
        writers = []
        isFlushing = false
        state.beginImage()
        if changes.mustFlush {
            flushAt = nil
        } else if !changes.isEmpty {
            flushAt = flushAt ?? now.monotonic + Self.flushDelay
        }
        return changes
    }

    /// Gives up a flush that failed, so that a broken disk doesn't keep the engine busy.
    mutating func forgetFlush() {
        flushAt = nil
    }

    mutating func takeActions() -> [SyncAction] {
        defer { actions = [] }
        return actions
    }
}

/// What a turn has changed.
package struct TurnChanges: Equatable, Sendable {
    package var rows: [StateRow] = []
    /// Handles that the rows name and that no row named before.
    package var introduced: [ContentHandle] = []
    /// Whether the rows, and all before them, must survive a power loss.
    package var mustFlush = false
    /// Whether records were removed, which the files must not have any more.
    var removesRecords = false

    /// Whether there is nothing to store and nothing to flush.
    package var isEmpty: Bool { rows.isEmpty && !mustFlush }

    /// The records whose rows the turn has changed.
    var keys: [RecordKey] {
        rows.compactMap { if case .record(let key, _, _) = $0 { key } else { nil } }
    }
}

extension CloudError {
    /// The error that delays work as after a failed request; callers and events get the real cause.
    static var ofDisk: CloudError {
        CloudError(.internalError, message: "The state could not be read or written.")
    }
}
