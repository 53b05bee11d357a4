public import struct Foundation.Data
public import struct Foundation.UUID

/// A model that is stored as one record: `Codable & Sendable`, plus two requirements.
///
/// ```swift
/// struct Landmark: RecordCodable {
///     var id: UUID
///     var name: String
///
///     var recordName: String { id.uuidString }
///     static func resolveConflict(_ conflict: Conflict<Landmark>) throws -> Landmark? {
///         try conflict.merged()
///     }
/// }
/// ```
///
/// Each key of the top level becomes one field; see ``RecordEncoder`` for the kinds.
public protocol RecordCodable: Codable, Sendable {
    /// The record type; by default the name of the Swift type.
    ///
    /// CloudKit's rule: an ASCII letter, then letters, digits and underscores, 255 characters at most.
    static var recordType: String { get }

    /// The version of the model's schema, 1 or above; by default 1.
    ///
    /// Raise it if older versions of the app would misread or damage records of the new one.
    ///
    /// An older version of the app neither overwrites nor deletes a record that it knows a newer version has
    /// written. It keeps showing the last version that it could read, if any; editing the record throws, and
    /// uploads and deletions are parked. This ends when the app is updated, or when an older version saves the
    /// record: the app gets the new contents, and the parked change is tried again, with the resolver if there
    /// is a conflict.
    static var schemaVersion: Int { get }

    /// The names of the fields that CloudKit stores encrypted; by default none.
    ///
    /// CloudKit encrypts their values on the device (`CKRecord.encryptedValues`), and decrypts them on the user's
    /// devices. Who else can read them depends on the user's iCloud settings: with Advanced Data Protection, only the
    /// user's trusted devices have the keys; without it, Apple keeps the keys as well, to recover the user's data.
    ///
    /// ```swift
    /// extension Patient {
    ///     static let encryptedFields = ["diagnosis", "notes"]
    /// }
    /// ```
    ///
    /// Use the coding keys. Encoding throws, and an upload queues nothing, if a name is neither encoded nor a case
    /// of the model's coding keys, or if its value is a reference, which CloudKit cannot encrypt, or an asset, which
    /// it always encrypts. The type must be `[String]`: a property of another type, such as `Set<String>`, does not
    /// satisfy this requirement, so nothing would be encrypted.
    ///
    /// An `encode(to:)` of your own may leave out a `nil` if the coding keys are an enum. With keys that accept any
    /// name, a misspelled one looks like one that is left out, so encode the `nil`.
    ///
    /// CloudKit's rules: the first save decides whether a field is encrypted, and that never changes, so to encrypt
    /// an existing field, give it a new name. Queries cannot use encrypted fields, and the public database has none.
    /// If users reset their iCloud keychain, their encrypted data is lost in the cloud, and the engine uploads what
    /// this device has, with the fields encrypted that came encrypted from the cloud even if only another version of
    /// the app names them.
    ///
    /// Other databases store these fields unencrypted. So does the engine on this device, where the system's file
    /// protection applies.
    static var encryptedFields: [String] { get }

    /// The record's name: stable, ASCII, 1 to 255 characters, without a leading underscore.
    ///
    /// There is a default if the model is `Identifiable` with a `UUID` or `String` id.
    var recordName: String { get }

    /// Resolves a conflict when this device and another one have changed the same record.
    ///
    /// There is no default, since a function with a slightly different signature would then be ignored
    /// silently. The result must depend only on the conflict, so that every device gets the same result. If
    /// the function throws, the edit is parked with the error; the server's version is delivered, and neither
    /// side is lost.
    ///
    /// - Parameter conflict: Both sides, their common ancestor if known, and when each was edited.
    /// - Returns: The model to keep, or `nil` to discard this device's change and keep the server's.
    /// - Throws: Any error that prevents a decision.
    static func resolveConflict(_ conflict: Conflict<Self>) throws -> Self?

    /// Decides about an edit on this device of a record that was deleted in the cloud; by default, the
    /// deletion wins.
    ///
    /// The default returns `nil`, which discards the pending edit. The engine calls this when a fetch returns
    /// the deletion, and when a save fails with `unknownItem`.
    ///
    /// - Parameter client: The newest model on this device.
    /// - Returns: The model to create again, or `nil` to accept the deletion.
    /// - Throws: Any error that prevents a decision.
    static func resolveDeletion(of client: Self) throws -> Self?
}

extension RecordCodable {
    /// The name of the Swift type.
    public static var recordType: String { ModelFacts.of(Self.self).name }

    /// The default version, 1.
    public static var schemaVersion: Int { 1 }

    /// No encrypted field.
    public static var encryptedFields: [String] { [] }

    /// Accepts the deletion.
    ///
    /// - Parameter client: The newest model on this device.
    /// - Returns: `nil`.
    /// - Throws: Never.
    public static func resolveDeletion(of client: Self) throws -> Self? { nil }
}

extension RecordCodable where Self: Identifiable, ID == UUID {
    /// The ID as an upper-case UUID string.
    public var recordName: String { id.text }
}

extension RecordCodable where Self: Identifiable, ID == String {
    /// The ID.
    public var recordName: String { id }
}

/// A model that stores the server's system fields.
///
/// Reads and delivered changes set them to those of the cloud's version that the model is based on. A save
/// that changes no field is not delivered; only a read returns its system fields. The key `systemFields` never
/// becomes a field of the record. Most models don't need this: the engine keeps its own copy, and storing them
/// makes models unequal after every save.
public protocol SystemFieldsStoring: RecordCodable {
    /// The server's system fields as an opaque blob; `nil` before the first save.
    var systemFields: Data? { get set }
}
