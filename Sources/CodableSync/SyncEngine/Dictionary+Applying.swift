public import RecordCoding

extension Dictionary where Key == String, Value: RecordCodable {
    /// Applies an element of a stream: the dictionary has the models by their record names.
    ///
    /// ```swift
    /// var landmarks: [String: Landmark] = [:]
    /// for await change in engine.liveChanges { landmarks.apply(change) }
    /// ```
    ///
    /// - Parameter change: The element.
    /// - Complexity: O(n) in the records of the element.
    public mutating func apply(_ change: ModelChange<Value>) {
        switch change {
        case .reset: removeAll()
        case .replayed: break
        case .updated(let models), .saved(let models):
            for model in models { self[model.recordName] = model }
        case .deleted(let names):
            for name in names { self[name] = nil }
        }
    }
}
