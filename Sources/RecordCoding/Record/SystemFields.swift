public import struct Foundation.Data
public import struct Foundation.Date

/// What the server keeps of a record beside its fields.
///
/// CloudKit's rule: all of it is the server's; a client sends the change tag back and changes nothing.
public struct SystemFields: Hashable, Sendable {
    /// The version of the record: opaque, new with every save, equal only for equal contents.
    public var recordChangeTag: String
    /// When the record was created, by the server's clock.
    public var creationDate: Date?
    /// When the record was last saved, by the server's clock.
    public var modificationDate: Date?
    /// The user record name of the user who created the record.
    public var creatorUserRecordName: String?
    /// The user record name of the user who saved the record last.
    public var lastModifiedUserRecordName: String?
    /// The database's own archive of these fields, where it needs one to save the record again.
    public var archive: Data?

    /// Makes system fields; a database does, an app has no need to.
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
