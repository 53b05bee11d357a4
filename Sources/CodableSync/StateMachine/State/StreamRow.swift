/// What the app's streams need after a restart: how far those of `changes` are, which records streams of either kind hold,
/// and which may have crashed earlier processes.
///
/// If the process ends now, one of the records held may have crashed it. When the engine next opens, it hands them out
/// one at a time, after all others. Records that it already handed out alone come last, the most recent one at the very
/// end.
package struct StreamRow: Equatable, Sendable {
    /// What streams of `changes` begin with, before the changes above ``accepted``.
    package enum Replay: Equatable, Sendable {
        /// Everything that is known, in the order of the keys: all streams have accepted it up to this one.
        case everything(after: RecordKey?)
        /// `.reset`, everything that reads show, and `.replayed`: the app must forget what it shows.
        case reset
    }

    /// The records of an element that a stream holds.
    package struct Element: Equatable, Sendable {
        package var stream: StreamID
        package var keys: [RecordKey]

        package init(stream: StreamID, keys: [RecordKey]) {
            self.stream = stream
            self.keys = keys
        }
    }

    /// The number up to which all streams of `changes` have accepted what they could decode.
    package var accepted: UInt64 = 0
    package var replay: Replay?
    /// The elements of this process's streams, or of the former's until a stream of this process makes a request.
    package var elements: [Element] = []
    /// Records that may have crashed an earlier process, the most suspicious last.
    package var suspects: [RecordKey] = []

    package init() {}

    /// All records that may have ended the process, the most suspicious last.
    package var allSuspects: [RecordKey] {
        let alone = elements.filter { $0.keys.count == 1 }.flatMap(\.keys)
        let together = elements.filter { $0.keys.count > 1 }.flatMap(\.keys)
        let former = suspects.filter { !alone.contains($0) }
        return together.filter { !suspects.contains($0) && !alone.contains($0) } + former + alone
    }
}
