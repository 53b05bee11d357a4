/// How one record of a request is saved or deleted, where the request's save policy does not decide.
///
/// CloudKit Web Services have such a rule for each record of a request.
@_spi(Server) public struct LedgerWrite: Equatable, Sendable {
    /// When a save is refused; a deletion compares change tags with `ifServerRecordUnchanged`, and nothing otherwise.
    public var policy: SavePolicy
    /// Whether a save removes the fields that it does not contain.
    public var replacesFields: Bool
    /// The change tag that the record must have for a deletion that compares it.
    public var changeTag: String?

    /// Creates a rule.
    ///
    /// - Parameters:
    ///   - policy: When the write is refused.
    ///   - replacesFields: Whether a save removes the fields that it does not contain.
    ///   - changeTag: The change tag that the record must have for a deletion that compares it.
    public init(policy: SavePolicy, replacesFields: Bool = false, changeTag: String? = nil) {
        self.policy = policy
        self.replacesFields = replacesFields
        self.changeTag = changeTag
    }
}
