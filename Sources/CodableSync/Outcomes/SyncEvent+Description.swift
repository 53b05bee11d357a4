import RecordCoding

extension SyncEvent: CustomStringConvertible {
    /// One line for a log; it contains record names but no fields.
    ///
    /// The format may change, so do not parse it.
    public var description: String {
        switch self {
        case .fetchBegan: "Fetching changes."
        case .fetchEnded(let changed, let deleted): "Fetched: \(changed) changed, \(deleted) deleted."
        case .sendBegan(let count): "Sending \(count.counted("change"))."
        case .sendEnded(let saved, let deleted, let failed):
            "Sent: \(saved) saved, \(deleted) deleted, \(failed) failed."
        case .callRefused(let names, let error):
            "Refused a call for \(names.listed): \(error.message.abbreviated(to: 400))"
        case .failed(let error): "A request failed; no edit is lost: \(error)"
        case .waiting(let date): "Waiting until \(date.text)."
        case .parked(let name, let reason): "Parked the change to \(name.quoted): \(reason)"
        case .conflictResolved(let name, _, _, let outcome):
            "Resolved a conflict over \(name.quoted): \(outcome.words)."
        case .discarded(let name, _, let reason): "Discarded a version of \(name.quoted): \(reason.words)."
        case .editOfDeleted(let name, _, let kept):
            "\(name.quoted) was edited here and deleted in the cloud: \(kept ? "the edit creates it again" : "the deletion wins")."
        case .conflictLoop(let name): "Too many conflicts in a row over \(name.quoted); trying again later."
        case .quotaExceeded: "The cloud storage is full; changes are kept."
        case .undecodable(let name, let reason): "Can't decode \(name.quoted), which is kept: \(reason)"
        case .unknownValue(let name, let field, let kind):
            "Can't read the field \(field.quoted) of \(name.quoted), which stays in the cloud: its kind is \(kind.quoted)."
        case .streamStalled(let waiting):
            "A loop over the changes isn't keeping up: \(waiting.counted("record")) waiting."
        case .ignoredRecords(let count): "Ignored \(count.counted("record")) of other types."
        case .unmentioned(let name): "The response didn't mention \(name.quoted), which is sent again."
        case .accountChanged(let from, let to):
            "The user changed from \(from?.quoted ?? "nobody") to \(to?.quoted ?? "nobody")."
        case .accountSwitchFailed(let user, let error):
            "Can't open the state of the user \(user.quoted): \(error)"
        case .zoneLost(let reason): "Zone lost (\(reason?.description ?? "reason unknown"))."
        case .zoneReady: "Zone ready."
        case .listingBegan: "The change token expired; fetching everything."
        case .subscriptionFailed(let error): "Can't subscribe to changes; polling instead: \(error)"
        case .stateRecovered(let text): "Recovered a damaged state: \(text)"
        case .storageFailed(let text): "Can't use the stored state: \(text)"
        case .dropped(let count): "Dropped \(count.counted("older event")) that nobody read."
        }
    }
}

extension [String] {
    /// The first three names, and the number of remaining ones.
    var listed: String {
        let first = prefix(3).map(\.quoted).joined(separator: ", ")
        return count > 3 ? "\(first) and \((count - 3).counted("other record"))" : first
    }
}

extension ConflictOutcome {
    fileprivate var words: String {
        switch self {
        case .client: "kept this device's edit"
        case .server: "kept the cloud's version"
        case .merged: "merged both"
        }
    }
}

extension DiscardReason {
    fileprivate var words: String {
        switch self {
        case .discarded: "the app asked for it"
        case .deletion: "the record was deleted on this device"
        case .replaced: "a newer edit replaced it"
        }
    }
}

extension ParkReason: CustomStringConvertible {
    /// The message and the kind of reason.
    public var description: String { "\(message) (\(kind.rawValue))" }
}
