/// The records that live streams hold, and those that may have crashed earlier processes.
///
/// Live streams also show records without an undelivered change, so the suspicion applies to a record, not to
/// a change.
package struct ShownElements: Equatable, Sendable {
    /// The records that a stream holds.
    package struct Element: Equatable, Sendable {
        package var stream: StreamID
        package var keys: [RecordKey]

        package init(stream: StreamID, keys: [RecordKey]) {
            self.stream = stream
            self.keys = keys
        }
    }

    /// The elements of this process's streams, or of the former's until a stream of this process gets one.
    package private(set) var held: [Element] = []
    /// Records handed out alone or under suspicion, the most recent one last.
    package private(set) var suspects: [RecordKey] = []

    package init() {}

    package init(held: [Element], suspects: [RecordKey]) {
        self.held = held
        self.suspects = suspects
    }

    package var isEmpty: Bool { held.isEmpty && suspects.isEmpty }

    /// All records that may have ended the process, the most suspicious last.
    package var allSuspects: [RecordKey] {
        held.filter { $0.keys.count > 1 }.flatMap(\.keys).filter { !suspects.contains($0) } + suspects
    }

    /// Gives a stream its next element, which accepts the one before.
    mutating func hand(_ keys: [RecordKey], to stream: StreamID) {
        for element in held where element.stream == stream {
            for key in element.keys { clear(key) }
        }
        held.removeAll { $0.stream == stream }
        if !keys.isEmpty { held.append(Element(stream: stream, keys: keys)) }
        if keys.count == 1 {
            suspects.removeAll { $0 == keys[0] }
            suspects.append(keys[0])
        }
    }

    /// Replaces the elements of the former process's streams with a list of suspects.
    mutating func suspect(_ keys: [RecordKey]) {
        held = []
        suspects = keys
    }

    /// Ends the suspicion of a record that the app has accepted.
    mutating func clear(_ key: RecordKey) {
        if !suspects.isEmpty { suspects.removeAll { $0 == key } }
    }
}
