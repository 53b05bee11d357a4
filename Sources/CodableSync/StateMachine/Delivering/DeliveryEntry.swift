import RecordCoding

/// Journal entries about what the app's streams told and what they need after a restart.
package enum DeliveryEntry: Equatable, Sendable {
    /// A stream of `changes` made the very first request: it gets everything that is known.
    case followed
    /// The app must forget what it shows: streams of `changes` begin with `.reset`.
    case startedOver
    /// How far the streams are, and what they hold.
    case streams(StreamRow)
    /// What streams had to leave out of an element comes behind all other changes.
    case renewed([RecordKey])
    /// These changes could not be decoded; they are tried again after the next opening.
    case undecodable([RecordKey])
    /// All streams have told what happened to these records.
    case told([RecordKey])
}

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

extension SyncState {
    mutating func apply(delivering entry: DeliveryEntry) {
        switch entry {
        case .followed:
            changeSummary { $0.isFollowed = true }
            begin(.everything(after: nil))
        case .startedOver: startOver()
        case .streams(let row): changeStreams { $0 = row }
        case .renewed(let keys): for key in keys { renew(key) }
        case .undecodable(let keys): for key in keys { markUndecodable(key) }
        case .told(let keys): for key in keys { change(key) { $0.tellNothing() } }
        }
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
    mutating func startOver() {
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

    private mutating func renew(_ key: RecordKey) {
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

    private mutating func markUndecodable(_ key: RecordKey) {
        guard let record = self[key], record.news?.isUndecodable != true else { return }
        let news = nextNews()
        change(key) { record in
            record.news = record.news ?? news
            record.news?.isUndecodable = true
        }
    }
}
