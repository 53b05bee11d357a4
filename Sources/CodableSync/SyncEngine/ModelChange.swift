public import RecordCoding

/// One element of an engine's `changes`: at most 200 records of one kind.
public enum ModelChange<Model: RecordCodable>: Sendable {
    /// Models that were changed on another device or by a conflict; show them in place of your copies.
    case updated([Model])
    /// Models that this device uploaded and the server has confirmed.
    case saved([Model])
    /// The names of records that were deleted on another device.
    case deleted([String])
}

extension ModelChange: Equatable where Model: Equatable {}

extension ModelChange {
    /// The record names of the element.
    var names: [String] {
        switch self {
        case .updated(let models), .saved(let models): models.map(\.recordName)
        case .deleted(let names): names
        }
    }
}
