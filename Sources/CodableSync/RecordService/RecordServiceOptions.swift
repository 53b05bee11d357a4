/// What a record service does where the behaviour of CloudKit Web Services is uncertain or configurable.
@_spi(Server) public struct RecordServiceOptions: Hashable, Sendable {
    /// How a change token that can no longer be used is refused.
    public enum ExpiredToken: String, Hashable, Sendable, CaseIterable {
        /// With `BAD_REQUEST` and a reason about the continuation, as the live service was seen to do.
        case badRequest
        /// With `CHANGE_TOKEN_EXPIRED`, for which other clients look.
        case changeTokenExpired
    }

    /// How an atomic request is answered whose records can't all be saved.
    public enum AtomicFailure: String, Hashable, Sendable, CaseIterable {
        /// With status 200, where the guilty records have their codes, and all others `ATOMIC_ERROR`.
        case items
        /// With status 400 and `ATOMIC_ERROR`, beside the same items.
        case errorWithItems
        /// With status 400 and `ATOMIC_ERROR` alone, which doesn't say what is to blame.
        case error
    }

    /// How an atomic request is answered whose records can't all be saved.
    public var atomicFailure = AtomicFailure.items
    /// Whether every request in a custom zone is atomic, whatever it asks for; CloudKit was seen to do so.
    public var isAlwaysAtomic = false
    /// Whether the last page of a zone has null for `moreComing`.
    public var lastPageHasNull = false
    /// How a change token that can no longer be used is refused.
    public var expiredToken = ExpiredToken.badRequest
    /// Whether a deleted record's type is in the change feed; the live service leaves it out.
    public var deletionsHaveTypes = false
    /// The most operations or names in one request.
    public var maximumItems = 200
    /// The most bytes in the body of a request.
    public var maximumRequestBytes = 16 << 20
    /// The size at which a page of changes ends; a single larger record still gets a page of its own.
    public var maximumPageBytes = 4 << 20

    /// Creates the default options.
    public init() {}
}

@_spi(Server) extension LedgerOptions {
    /// A ledger behind a record service: it enforces a schema, as CloudKit does, and conflicts carry no record.
    public static var webServices: LedgerOptions {
        var options = LedgerOptions()
        options.conflictsCarryServerRecord = false
        options.enforcesSchema = true
        return options
    }
}
