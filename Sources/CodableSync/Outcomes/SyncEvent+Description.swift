import RecordCoding

extension SyncEvent: CustomStringConvertible {
    /// One line for a log; it contains record names but no fields.
    ///
    /// The format may change, so do not parse it.
    public var description: String {
        switch self {
        case .fetchBegan: "A fetch began."
        case .fetchEnded(let changed, let deleted): "A fetch ended: \(changed) changed, \(deleted) deleted."
        case .sendBegan(let count): "A request leaves with \(count.counted("change"))."
        case .sendEnded(let saved, let deleted, let failed):
            "A request was answered: \(saved) saved, \(deleted) deleted, \(failed) failed."
        case .callRefused(let names, let error):
            "A call for \(names.listed) was refused: \(error.message.abbreviated(to: 400))"
        case .failed(let error): "A request failed, and nothing is lost: \(error)"
        case .waiting(let date): "Nothing is requested before \(date)."
        case .parked(let name, let reason): "The change of \(name.quoted) was set aside: \(reason)"
        case .conflictResolved(let name, _, _, let outcome):
            "The conflict over \(name.quoted) was resolved: \(outcome.words)."
        case .discarded(let name, _, let reason): "A value of \(name.quoted) was given up: \(reason.words)."
        case .editOfDeleted(let name, _, let kept):
            "\(name.quoted) was edited here and deleted in the cloud: \(kept ? "it is created anew" : "it stays deleted")."
        case .conflictLoop(let name):
            "\(name.quoted) met too many conflicts in a row; it is tried again later."
        case .quotaExceeded: "The storage in the cloud is full; changes are kept."
        case .undecodable(let name, let reason): "\(name.quoted) cannot be decoded, and is kept: \(reason)"
        case .streamStalled(let waiting):
            "A loop over the changes has not asked for the next one; \(waiting.counted("record")) kept for it."
        case .ignoredRecords(let count): "Passed over, as none of this engine's: \(count.counted("record"))."
        case .unmentioned(let name): "An answer did not mention \(name.quoted); it is sent again."
        case .accountChanged(let from, let to):
            "The user changed from \(from?.quoted ?? "nobody") to \(to?.quoted ?? "nobody")."
        case .accountSwitchFailed(let user, let error):
            "The state of the user \(user.quoted) cannot be opened: \(error)"
        case .zoneLost(let reason): "The zone is gone: \(reason?.rawValue ?? "nobody knows why")."
        case .zoneReady: "The zone is there."
        case .listingBegan: "The change token expired; everything is fetched."
        case .subscriptionFailed(let error):
            "The subscription could not be made, and the engine polls: \(error)"
        case .stateRecovered(let text): "The state was damaged, and has been recovered: \(text)"
        case .storageFailed(let text): "The state cannot be used now: \(text)"
        case .dropped(let count): "Dropped, because nobody took them: \(count.counted("older event"))."
        }
    }
}

extension [String] {
    /// The first names.
    fileprivate var listed: String {
        let first = prefix(3).map(\.quoted).joined(separator: ", ")
        return count > 3 ? "\(first) and \((count - 3).counted("other record"))" : first
    }
}

extension Int {
    fileprivate func counted(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}

extension ConflictOutcome {
    fileprivate var words: String {
        switch self {
        case .client: "this device's edit stays"
        case .server: "the cloud's value stays"
        case .merged: "both were merged"
        }
    }
}

extension DiscardReason {
    fileprivate var words: String {
        switch self {
        case .discarded: "the app asked for it"
        case .deletion: "it was deleted here"
        case .replaced: "a newer edit took its place"
        }
    }
}

extension ParkReason: CustomStringConvertible {
    /// The message and the kind of reason.
    public var description: String { "\(message) (\(kind.rawValue))" }
}
