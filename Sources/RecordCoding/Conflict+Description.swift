extension Conflict: CustomStringConvertible {
    /// The record of the conflict, and whether there is an ancestor; it contains no fields.
    ///
    /// The format may change, so do not parse it.
    public var description: String {
        let kind = ancestor == nil ? "without an ancestor" : "with an ancestor"
        return "conflict over \(Model.recordType) \(client.recordName.quoted), \(kind)"
    }
}
