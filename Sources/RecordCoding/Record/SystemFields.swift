public import struct Foundation.Data
public import struct Foundation.Date

/// The values that the server stores with a record in addition to its fields.
///
/// CloudKit's rule: only the server changes them; a client sends the change tag back unchanged.
public struct SystemFields: Hashable, Sendable {
    /// The opaque version of the record, which changes with every save; equal tags mean equal contents.
    public var recordChangeTag: String
    /// When the record was created, by the server's clock.
    public var creationDate: Date?
    /// When the record was last saved, by the server's clock.
    public var modificationDate: Date?
    /// The user record name of the user who created the record.
    public var creatorUserRecordName: String?
    /// The user record name of the user who saved the record last.
    public var lastModifiedUserRecordName: String?
    /// The database's own archive of these fields, if it needs one to save the record again.
    ///
    /// System fields that differ only in their archives are equal, since the bytes of an archive may differ
    /// for the same values.
    public var archive: Data?

    /// Creates system fields; only databases need to.
    ///
    /// - Parameters:
    ///   - recordChangeTag: The version of the record.
    ///   - creationDate: When the record was created.
    ///   - modificationDate: When the record was last saved.
    ///   - creatorUserRecordName: The user who created the record.
    ///   - lastModifiedUserRecordName: The user who saved the record last.
    ///   - archive: The database's own archive of these fields.
    public init(
        recordChangeTag: String,
        creationDate: Date? = nil,
        modificationDate: Date? = nil,
        creatorUserRecordName: String? = nil,
        lastModifiedUserRecordName: String? = nil,
        archive: Data? = nil
    ) {
        self.recordChangeTag = recordChangeTag
        self.creationDate = creationDate
        self.modificationDate = modificationDate
        self.creatorUserRecordName = creatorUserRecordName
        self.lastModifiedUserRecordName = lastModifiedUserRecordName
        self.archive = archive
    }
}

extension SystemFields {
    /// Whether all values except the archives are equal.
    ///
    /// - Parameters:
    ///   - lhs: System fields.
    ///   - rhs: Other system fields.
    /// - Returns: Whether both describe the same version.
    public static func == (lhs: SystemFields, rhs: SystemFields) -> Bool {
        lhs.recordChangeTag == rhs.recordChangeTag && lhs.creationDate == rhs.creationDate
            && lhs.modificationDate == rhs.modificationDate
            && lhs.creatorUserRecordName == rhs.creatorUserRecordName
            && lhs.lastModifiedUserRecordName == rhs.lastModifiedUserRecordName
    }

    /// Hashes all values except the archive.
    ///
    /// - Parameter hasher: The hasher.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(recordChangeTag)
        hasher.combine(creationDate)
        hasher.combine(modificationDate)
        hasher.combine(creatorUserRecordName)
        hasher.combine(lastModifiedUserRecordName)
    }
}
