import RecordCoding

/// An element of a stream of models, decoded as far as it can be.
struct ModelElement<Model: RecordCodable>: StreamElement {
    private let stream: StreamID
    private let hub: ChangeHub<Model>
    private var change: ModelChange<Model>?
    /// The core's session that a reset begins with.
    private var session: Int?
    private(set) var undecodable: [UndecodableChange] = []
    private(set) var overtaken: [RecordKey] = []

    /// Decodes an element.
    ///
    /// - Parameters:
    ///   - items: The changes of the element.
    ///   - below: The versions below the pending edits among them.
    ///   - contents: The contents of the changes.
    ///   - stream: The stream that gets the element.
    ///   - hub: The streams of the model.
    init(
        _ items: [DeliveryItem],
        over below: [ContentHandle: ContentHandle],
        from contents: StoredContents,
        for stream: StreamID,
        of hub: ChangeHub<Model>
    ) {
        self.stream = stream
        self.hub = hub
        guard let first = items.first else { return }
        if case .deleted = first.kind {
            change = .deleted(items.map(\.name))
            return
        }
        let models = items.compactMap { model(of: $0, below, contents) }
        if models.isEmpty { return }
        if case .saved = first.kind { change = .saved(models) } else { change = .updated(models) }
    }

    /// Creates an element without records.
    init(_ mark: StreamMark, for stream: StreamID, _ session: Int, of hub: ChangeHub<Model>) {
        self.stream = stream
        self.hub = hub
        switch mark {
        case .reset:
            change = .reset
            self.session = session
        case .replayed: change = .replayed
        }
    }

    var isEmpty: Bool { change == nil }

    func handOver() {
        // A stream that was cancelled in the meantime has not accepted the element, and ends by itself.
        if let change { _ = hub.resume(stream, with: change, session) }
    }

    mutating func leaveOut(_ keys: [RecordKey]) {
        if keys.isEmpty { return }
        overtaken = keys
        undecodable.removeAll { keys.contains($0.key) }
        let names = keys.map(\.recordName)
        switch change {
        case .updated(let models)?: change = Self.change(models, names, ModelChange.updated)
        case .saved(let models)?: change = Self.change(models, names, ModelChange.saved)
        case .deleted(let deleted)?:
            let left = deleted.filter { !names.contains($0) }
            change = left.isEmpty ? nil : .deleted(left)
        case .reset?, .replayed?, nil: break
        }
    }

    private static func change(
        _ models: [Model],
        _ names: [String],
        _ make: ([Model]) -> ModelChange<Model>
    ) -> ModelChange<Model>? {
        let left = models.filter { !names.contains($0.recordName) }
        return left.isEmpty ? nil : make(left)
    }

    private mutating func model(
        of item: DeliveryItem,
        _ below: [ContentHandle: ContentHandle],
        _ contents: StoredContents
    ) -> Model? {
        do {
            guard let handle = item.kind.handle else { throw CodingFailure.missing }
            return try hub.coding.decode(try contents.record(handle, over: below[handle]))
        } catch {
            let lost = item.kind.handle.flatMap { contents[$0] == nil ? $0 : nil }
            undecodable.append(
                UndecodableChange(key: item.key, reason: hub.coding.describe(error), lost: lost)
            )
            return nil
        }
    }
}
