extension PendingChange: CustomStringConvertible {
    /// One line with the record's name, the kind of change and its stage; it contains no fields.
    ///
    /// The format may change, so do not parse it.
    public var description: String {
        "\(recordName.quoted): \(isDeletion ? "deletion" : "edit"), \(stage)"
    }
}

extension PendingChange.Stage: CustomStringConvertible {
    /// The stage in a few words.
    ///
    /// The format may change, so do not parse it.
    public var description: String {
        switch self {
        case .queued: "queued"
        case .inFlight: "in flight"
        case .inConflict: "in conflict"
        case .parked(let reason): "parked: \(reason)"
        }
    }
}
