/// Requests from the app's streams, and the outcomes of their elements.
package enum DeliveryInput: Equatable, Sendable {
    /// A stream requests its next element, which accepts the one that it holds.
    case streamRequested(StreamID, StreamKind = .changes)
    case streamEnded(StreamID)
    /// Changes in an element could not be decoded; `isEmpty` if the element has no others.
    case undecodable(StreamID, [UndecodableChange], isEmpty: Bool)
    /// Changes in an element were replaced by newer changes to the same records before they were delivered.
    case overtaken(StreamID, [RecordKey], isEmpty: Bool)
    /// Changes in an element can't be loaded from disk right now.
    case loadFailed(StreamID, [RecordKey], isEmpty: Bool)
    /// Something was stored after the disk had refused what streams hold and accept.
    case storable
}
