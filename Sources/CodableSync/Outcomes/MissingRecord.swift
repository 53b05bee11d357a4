/// What an edit or a draft does if this device does not have the record.
public enum MissingRecord: Hashable, Sendable {
    /// The call throws ``SyncError/Code-swift.enum/recordNotFound``.
    case fail
    /// The call creates the record: from the model that you pass, as edited by the closure, or from the draft.
    case create
}
