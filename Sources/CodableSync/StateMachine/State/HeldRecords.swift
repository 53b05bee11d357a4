/// The records that streams of either kind hold, and those that may have crashed earlier processes.
///
/// If the process ends now, one of the records held may have crashed it. When the engine next opens, it hands them out
/// one at a time, after all others. Records that it already handed out alone come last, the most recent one at the very
/// end.
package struct HeldRecords: Equatable, Sendable {
    /// The records of an element that a stream holds.
    package struct Element: Equatable, Sendable {
        package var stream: StreamID
        package var keys: [RecordKey]

        package init(stream: StreamID, keys: [RecordKey]) {
            self.stream = stream
            self.keys = keys
        }
    }

    /// The elements of this process's streams, or of the former's until a stream of this process gets one.
    package private(set) var elements: [Element] = []
    /// Records that may have crashed an earlier process, the most suspicious last.
    package private(set) var suspects: [RecordKey] = []

    package init() {}

    package init(elements: [Element], suspects: [RecordKey]) {
        self.elements = elements
        self.suspects = suspects
    }

    package var isEmpty: Bool { elements.isEmpty && suspects.isEmpty }

    /// All records that may have ended the process, the most suspicious last.
    package var allSuspects: [RecordKey] {
        let alone = elements.filter { $0.keys.count == 1 }.flatMap(\.keys)
        let together = elements.filter { $0.keys.count > 1 }.flatMap(\.keys)
        let former = suspects.filter { !alone.contains($0) }
        return together.filter { !suspects.contains($0) && !alone.contains($0) } + former + alone
    }

    /// Gives a stream its next element, which accepts the one before.
    mutating func hand(_ keys: [RecordKey], to stream: StreamID) {
        let former = self.keys(of: stream)
        if !suspects.isEmpty { suspects.removeAll { former.contains($0) } }
        end(stream)
        if !keys.isEmpty { elements.append(Element(stream: stream, keys: keys)) }
    }

    /// Takes its element from a stream.
    mutating func end(_ stream: StreamID) { elements.removeAll { $0.stream == stream } }

    /// Replaces the elements of the former process's streams with a list of suspects.
    mutating func suspect(_ keys: [RecordKey]) {
        elements = []
        suspects = keys
    }

    /// The records that a stream holds.
    func keys(of stream: StreamID) -> [RecordKey] { elements.first { $0.stream == stream }?.keys ?? [] }

    /// Removes records that the app has accepted, or that are gone.
    mutating func accept(_ keys: [RecordKey]) {
        if isEmpty { return }
        var accepted = RecordTable<Bool>()
        for key in keys { accepted[key] = true }
        suspects.removeAll { accepted[$0] == true }
        for index in elements.indices { elements[index].keys.removeAll { accepted[$0] == true } }
        elements.removeAll { $0.keys.isEmpty }
    }
}
