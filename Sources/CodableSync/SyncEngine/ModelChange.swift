public import RecordCoding

/// One element of a stream of changes: at most 200 records with the same kind of change.
///
/// Handle every case: if an app ignores one, its screens show wrong data.
public enum ModelChange<Model: RecordCodable>: Sendable {
    /// Discard what you show: all known models follow as ``updated(_:)``, and then ``replayed``.
    ///
    /// In ``SyncEngine/changes``, it comes before the first change of another user, after a damaged state was
    /// set aside, and after ``SyncConfiguration/OnSignOut/remove`` has removed records. In
    /// ``SyncEngine/liveChanges``, it also comes first.
    case reset
    /// All models known at the last ``reset`` have been delivered.
    ///
    /// To avoid flicker, a store can collect models after a reset and show them now.
    case replayed
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
        case .reset, .replayed: []
        }
    }
}
