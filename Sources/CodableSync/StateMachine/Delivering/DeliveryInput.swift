/// Requests of the app's streams, and what became of an element.
package enum DeliveryInput: Equatable, Sendable {
    /// A stream requests its next element, which accepts the one that it holds.
    case streamRequested(StreamID)
    case streamEnded(StreamID)
    /// Changes in an element could not be decoded; `isEmpty` if the element has no others.
    case undecodable(StreamID, [UndecodableChange], isEmpty: Bool)
    /// Changes in an element were replaced by newer changes to the same records before they were delivered.
    case overtaken(StreamID, [String], isEmpty: Bool)
    /// Changes in an element cannot be read from disk at the moment.
    case unread(StreamID, [String], isEmpty: Bool)
}
