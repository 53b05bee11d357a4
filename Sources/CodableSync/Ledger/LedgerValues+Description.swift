import RecordCoding

@_spi(Server) extension CloudLedger: CustomStringConvertible {
    /// The ledger's identifier and the number of its users; it contains no records.
    public var description: String { "ledger \(identifier.quoted) of \(users.count.counted("user"))" }
}

@_spi(Server) extension LedgerLimits: CustomStringConvertible {
    /// The limits in words, sizes in bytes.
    public var description: String {
        """
        \(database), at most \(maximumZones.counted("zone")), \
        \(maximumDeleteSelfReferences.counted("deleteSelf reference")) to a record, \
        contents \(checksContents ? "checked" : "not checked")
        """
    }
}

@_spi(Server) extension LedgerOptions: CustomStringConvertible {
    /// The options that differ from the defaults: `dropsEmptyLists: true`, or `default options`.
    ///
    /// The format may change, so do not parse it.
    public var description: String {
        let usual = LedgerOptions().values
        let other = zip(values, usual).filter { $0.0.value != $0.1.value }.map {
            "\($0.0.name): \($0.0.value)"
        }
        return other.isEmpty ? "default options" : other.joined(separator: ", ")
    }

    private var values: [(name: String, value: String)] {
        [
            ("createOfExisting", "\(createOfExisting)"),
            ("conflictsCarryServerRecord", "\(conflictsCarryServerRecord)"),
            ("saveOfDeleted", "\(saveOfDeleted)"),
            ("deletionOfMissing", "\(deletionOfMissing)"),
            ("savedFields", "\(savedFields)"),
            ("dropsEmptyLists", "\(dropsEmptyLists)"),
            ("refusesEmptyListsOfNewFields", "\(refusesEmptyListsOfNewFields)"),
            ("bumpsParentTag", "\(bumpsParentTag)"),
            ("keepsParents", "\(keepsParents)"),
            ("listsOldDeletions", "\(listsOldDeletions)"),
            ("resetZonesMustBeDeleted", "\(resetZonesMustBeDeleted)"),
            ("enforcesSchema", enforcesSchema.map { "\($0)" } ?? "by database"),
        ]
    }
}
