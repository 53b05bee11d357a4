import RecordCoding

/// A record whose contents changed in reads.
struct Reshown: Equatable, Sendable {
    var key: RecordKey
    /// Whether they are this device's edit, which the cloud has confirmed.
    var isSaved = false
}

extension RecordState {
    /// Whether a replay tells the record.
    ///
    /// - Parameters:
    ///   - afterReset: Whether the app has forgotten everything.
    ///   - accepted: The number up to which the stream has accepted all changes.
    /// - Returns: Whether it does.
    func isReplayed(afterReset: Bool, above accepted: UInt64) -> Bool {
        guard shown != nil, news?.isUndecodable != true else { return false }
        // What only this device has is the app's own, and what has changed since comes in its place.
        return afterReset || lastKnown != nil && news(above: accepted)?.isSaved != false
    }
}

/// What the app's streams told and what they need after a restart. A stream repeats what is lost.
extension SyncState {
    /// Notes the very first request of a stream of `changes`, which gets everything that is known.
    package mutating func follow() {
        changeSummary { $0.isFollowed = true }
        begin(.everything(after: nil))
    }

    /// Notes that all streams have told what happened to a record.
    package mutating func endTelling(_ key: RecordKey) {
        change(key) { $0.tellNothing() }
    }

    /// The number of records that the next stream of `changes` replays.
    var replayCount: Int {
        let keys = records.sortedKeys
        switch streams.replay {
        case nil: return 0
        case .reset: return keys.count { self[$0]?.isReplayed(afterReset: true, above: 0) == true }
        case .everything(let last):
            let rest = keys[...].drop { key in last.map { key <= $0 } ?? false }
            return rest.count { self[$0]?.isReplayed(afterReset: false, above: streams.accepted) == true }
        }
    }

    /// Makes streams of `changes` begin with `.reset`, and everything that reads show.
    package mutating func startOver() {
        changeSummary { $0.isFollowed = true }
        begin(.reset)
    }

    private mutating func begin(_ replay: StreamRow.Replay) {
        let last = summary.lastNumber
        changeStreams { row in
            row.accepted = last
            row.replay = replay
        }
    }

    /// Lets what streams had to leave out of an element come behind all other changes.
    package mutating func renew(_ key: RecordKey) {
        guard let record = self[key],
            record.shown != nil || record.server.isDeletion || untoldNews(of: key) != nil
        else { return }
        let news = nextNews()
        change(key) { record in
            let isSaved = record.news?.isSaved == true
            record.news = news
            record.news?.isSaved = isSaved
        }
    }

    /// Notes that a change could not be decoded; it is tried again after the next opening.
    package mutating func markUndecodable(_ key: RecordKey) {
        guard let record = self[key], record.news?.isUndecodable != true else { return }
        let news = nextNews()
        change(key) { record in
            record.news = record.news ?? news
            record.news?.isUndecodable = true
        }
    }
}
