import RecordCoding

import struct Foundation.Date

@testable import CodableSync

// Short forms for tests in which all records are in one zone and have one type: the tests name records only.

/// The type of the records.
let testType = ExactName("T")

extension RecordKey: ExpressibleByStringLiteral {
    /// The record of this name in the first zone.
    public init(stringLiteral name: String) { self.init(name) }

    /// A record in the first zone.
    init(_ name: String) { self.init(zone: .first, name: ExactName(name)) }
}

extension ExactName: ExpressibleByStringLiteral {
    /// This name.
    public init(stringLiteral name: String) { self.init(name) }
}

extension ZoneID: ExpressibleByStringLiteral {
    /// The current user's zone of this name.
    public init(stringLiteral name: String) { self.init(zoneName: name) }
}

extension JournalLine {
    /// A line of contents with these elements behind its checksum.
    static func contents(_ handle: UInt64, _ elements: String) -> String {
        let rest = Array("\(elements)]".utf8)
        var checksum = LineChecksum()
        rest.withUnsafeBytes { checksum.absorb($0) }
        let sum = LogMarks.hexadecimal(checksum.value(count: Int(truncatingIfNeeded: handle)))
        return "[\(handle),\"\(sum)\",\(elements)]"
    }

    /// A line of contents with other elements and a valid checksum; other lines as they are.
    static func changing(_ line: String, _ body: (String) -> String) -> String {
        guard let handle = line.withoutPrefix("[")?.prefix(while: { $0 != "," }).description,
            let number = UInt64(handle)
        else { return line }
        // The checksum has sixteen digits, two quotation marks and two commas.
        return contents(number, body(String(line.dropFirst(1 + handle.count + 20).dropLast())))
    }
}

extension String {
    fileprivate func withoutPrefix(_ prefix: String) -> String? {
        hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
    }
}

extension JSONStateStore {
    /// Stores what changes make of the state that is stored.
    func append(
        _ changes: [StateChange],
        _ contents: [ContentHandle: Record] = [:],
        flush: Bool = true
    ) throws {
        var state = stored.withLock { $0.state }
        let rows = state.applyWriting(changes).rows
        try append(JournalBatch(rows: rows, contents: contents, flush: flush), leaving: state)
    }
}

extension SyncState {
    /// The state of the only zone.
    var onlyZone: ZoneState { zone(engineZone) }

    var sortedNames: [String] { sortedKeys(of: nil).map(\.recordName) }

    /// The names of the records of a type, in order.
    func sortedNames(of type: String) -> [String] {
        sortedKeys(of: ExactName(type)).map(\.recordName)
    }

    var pendingNames: [String] { pendingKeys.map(\.recordName) }

    mutating func change(_ name: String, _ body: (inout RecordState) -> Void) {
        change(RecordKey(name), of: testType, body)
    }
}

extension RecordQueue {
    /// The position of the first record, or ``endPosition`` if there is none.
    var firstPosition: Int { places.first.map { Int($0.number) } ?? endPosition }

    var names: [String] { keys.map(\.recordName) }

    func contains(_ name: String) -> Bool { contains(RecordKey(name)) }
}

extension SyncStateMachine {
    func stage(of name: String) -> ChangeStage { stage(of: RecordKey(name)) }
}

extension DeliveryItem {
    init(name: String, kind: Kind) { self.init(key: RecordKey(name), kind: kind) }
}

extension StreamState {
    /// The number of records that a live stream has yet to tell.
    var waitingCount: Int { queue.count + suspects.count }
}

extension StreamRow {
    init(elements: [Element], suspects: [RecordKey]) {
        self.init()
        self.elements = elements
        self.suspects = suspects
    }

    var holdsNothing: Bool { elements.isEmpty && suspects.isEmpty }
}

extension SyncState {
    /// What streams of `changes` have yet to tell about a record.
    func undelivered(_ key: RecordKey) -> DeliveryItem.Kind? {
        guard let record = self[key] else { return nil }
        guard let news = untoldNews(of: key) else { return record.server.isDeletion ? .deleted : nil }
        guard let shown = record.shown else { return .deleted }
        return news.isSaved ? .saved(shown.handle) : .updated(shown.handle)
    }

    func undelivered(_ name: String) -> DeliveryItem.Kind? { undelivered(RecordKey(name)) }

    /// The records that streams of `changes` have yet to tell, in order.
    var untoldNames: [String] { untold.map(\.value.recordName) }
}

extension UndecodableChange {
    init(name: String, reason: String) { self.init(key: RecordKey(name), reason: reason) }
}

extension SendItem {
    init(name: String, handle: ContentHandle?, known: KnownVersion? = nil) {
        self.init(key: RecordKey(name), handle: handle, known: known)
    }
}

extension SendResult {
    init(name: String, handle: ContentHandle?, outcome: Outcome) {
        self.init(key: RecordKey(name), handle: handle, outcome: outcome)
    }
}

extension FetchedRecord {
    init(name: String, version: KnownVersion) {
        self.init(key: RecordKey(name), recordType: testType, version: version)
    }
}

extension LookedUp {
    init(name: String, result: Result<KnownVersion?, CloudError>) {
        self.init(
            key: RecordKey(name),
            result: result.map { $0.map { FetchedRecord(name: name, version: $0) } }
        )
    }
}

extension NewChange {
    init(
        name: String,
        kind: LocalChange.Kind,
        edited: Date?,
        isInitial: Bool = false,
        basis: EditBase? = nil
    ) {
        self.init(
            name: name,
            recordType: testType,
            kind: kind,
            edited: edited,
            isInitial: isInitial,
            basis: basis
        )
    }
}

extension ReconcileItem {
    init(
        name: String,
        client: ContentHandle,
        clientEdited: Date?,
        server: ContentHandle?,
        ancestor: ContentHandle?,
        contested: ContentHandle? = nil,
        sent: [SentVersion]
    ) {
        self.init(
            key: RecordKey(name),
            client: client,
            clientEdited: clientEdited,
            server: server,
            ancestor: ancestor,
            contested: contested,
            sent: sent
        )
    }
}

extension RecordTable {
    subscript(name: String) -> Value? {
        get { self[RecordKey(name)] }
        set { self[RecordKey(name)] = newValue }
    }

    var sortedNames: [String] { sortedKeys.map(\.recordName) }
}

extension RecordQueue {
    mutating func append(_ name: String) { append(RecordKey(name)) }

    mutating func remove(_ name: String) { remove(RecordKey(name)) }

    mutating func moveToEnd(_ name: String) { moveToEnd(RecordKey(name)) }
}
