/// What a ledger does where CloudKit's behaviour is not documented or reports about it differ.
///
/// A client is correct only if it works with every combination of options.
///
/// ```swift
/// var options = LedgerOptions()
/// options.createOfExisting = .serverRejectedRequest
/// let cloud = FakeCloud(options: options)
/// ```
@_spi(Server) public struct LedgerOptions: Hashable, Sendable {
    /// How a save without a change tag over an existing record is refused; both errors carry the server's
    /// record.
    public enum CreateOfExisting: String, Hashable, Sendable, CaseIterable {
        /// With code 14, as observed with the live service.
        case serverRecordChanged
        /// With code 15, as others report.
        case serverRejectedRequest
    }

    /// How a save with a change tag is refused if the record is gone.
    public enum SaveOfDeleted: String, Hashable, Sendable, CaseIterable {
        /// With code 11, as Apple's sample expects.
        case unknownItem
        /// With code 14 and without a server record, as in older reports.
        case serverRecordChanged
    }

    /// The result of deleting a record that does not exist.
    public enum DeletionOfMissing: String, Hashable, Sendable, CaseIterable {
        /// The deletion succeeds and leaves no trace.
        case success
        /// The deletion fails with code 11.
        case unknownItem
    }

    /// Which fields the server's copy has in the result of a save.
    public enum SavedFields: String, Hashable, Sendable, CaseIterable {
        /// All fields of the record.
        case all
        /// The fields that were sent.
        case sent
    }

    /// How a save without a change tag over an existing record is refused.
    public var createOfExisting = CreateOfExisting.serverRecordChanged
    /// Whether a conflict carries the server's record; over web services it does not.
    public var conflictsCarryServerRecord = true
    /// How a save with a change tag is refused if the record is gone.
    public var saveOfDeleted = SaveOfDeleted.unknownItem
    /// The result of deleting a record that does not exist.
    public var deletionOfMissing = DeletionOfMissing.success
    /// Which fields the server's copy has in the result of a save.
    public var savedFields = SavedFields.all
    /// Whether an empty list is stored as no field at all.
    public var dropsEmptyLists = false
    /// Whether an empty list is refused with `invalidArguments` in a field that has no type yet, as CloudKit's
    /// development environment does.
    ///
    /// An empty list has no type that the field could get. Only a ledger that enforces a schema
    /// (``enforcesSchema``) knows which fields have one.
    public var refusesEmptyListsOfNewFields = true
    /// Whether saving a child gives its parent a new change tag, if the parent is not in the same request.
    public var bumpsParentTag = true
    /// Whether a record cannot be deleted while it is another record's parent.
    public var keepsParents = true
    /// Whether a fetch without a change token lists records that were deleted before it.
    public var listsOldDeletions = false
    /// Whether a zone whose encrypted data was reset must be deleted before it can be created again.
    public var resetZonesMustBeDeleted = true

    /// Whether a field keeps the type that it was first saved with, for all records of its type and all
    /// users.
    ///
    /// This is CloudKit's rule. A value of another type is refused with `invalidArguments`. The ledger learns
    /// types only while this is `true`; a null and an empty list have no type. From the types it knows which fields
    /// of a record to name in `Record.encryptedFields`. If `nil`, a ``FakeCloud``
    /// enforces types, while a ``LocalDatabase`` and a ledger of your own do not.
    public var enforcesSchema: Bool?

    /// Creates the default options.
    public init() {}
}
