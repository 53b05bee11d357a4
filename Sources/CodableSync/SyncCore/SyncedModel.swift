import RecordCoding

/// A model of a core: its rules, and the streams that deliver its changes.
///
/// This is all that a core knows about a model; there is one for each record type.
protocol SyncedModel: ModelRules {
    var type: any RecordCodable.Type { get }

    /// Decodes an element of a stream.
    ///
    /// - Parameters:
    ///   - items: The changes of the element.
    ///   - below: The versions below the pending edits among them, by handle of the edit.
    ///   - contents: Their contents.
    ///   - stream: The stream.
    /// - Returns: The element, with what could not be decoded.
    func element(
        _ items: [DeliveryItem],
        over below: [ContentHandle: ContentHandle],
        from contents: StoredContents,
        for stream: StreamID
    ) -> any StreamElement

    /// Creates an element without records; the elements after a reset are of this session.
    func element(_ mark: StreamMark, for stream: StreamID, _ session: Int) -> any StreamElement

    /// Claims a stream's request; returns `nil` if there is none, or if it has been claimed already.
    func claim(_ stream: StreamID) -> StreamKind?

    /// Repeats the requests of all waiting streams, because earlier requests may not have been answered.
    func repeatRequests()

    /// Ends every stream, because the core was closed or released.
    func finishStreams()
}

/// A decoded element on its way to a stream.
protocol StreamElement: Sendable {
    var undecodable: [UndecodableChange] { get }
    /// Records that have a newer change by now.
    var overtaken: [RecordKey] { get }
    /// Whether there is nothing to hand over.
    var isEmpty: Bool { get }

    /// Removes records that must no longer be delivered.
    mutating func leaveOut(_ keys: [RecordKey])

    /// Passes the element to the stream, unless no task waits for it anymore.
    func handOver()
}
