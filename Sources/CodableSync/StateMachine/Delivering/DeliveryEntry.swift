import RecordCoding

/// Journal entries about what the app's streams took and what they need after a restart.
package enum DeliveryEntry: Equatable, Sendable {
    /// The app has accepted everything since `.reset`, and `.replayed`.
    case replayed
    /// These records may have crashed earlier processes, the most suspicious last.
    case suspected([RecordKey])
    /// A stream holds these records, and has accepted those that it held before; if the process ends now, one of them
    /// may have crashed it.
    case held(StreamID, [RecordKey])
    /// A live stream has ended.
    ///
    /// What a stream of `changes` held when it ended stays a suspect until it is accepted: the loop may have thrown.
    case ended(StreamID)
}

/// A change that the app has accepted from a stream.
package struct AcceptedChange: Equatable, Sendable, RecordKeyed {
    package var key: RecordKey
    /// The delivery order of the change.
    package var order: UInt64

    package init(key: RecordKey, order: UInt64) {
        self.key = key
        self.order = order
    }
}

/// The app's progress in receiving everything again after a `.reset`.
package enum ResetStage: String, Equatable, Sendable {
    /// No record that follows it is accepted.
    case due
    /// Some records are accepted; a new stream starts over.
    case begun
}

/// A record whose contents changed in reads.
struct Reshown: Equatable, Sendable {
    var key: RecordKey
    /// Whether they are this device's edit, which the cloud has confirmed.
    var isSaved: Bool
}
