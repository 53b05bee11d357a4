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
    /// An app of a lower version neither overwrites nor deletes a record that it knows to be written by a higher one.
    static var schemaVersion: Int { get }

    /// The record's name: stable, ASCII, 1 to 255 characters, without a leading underscore.
    ///
    /// There is a default where the model is `Identifiable` with a `UUID` or `String` id.
    var recordName: String { get }

    /// Decides what is kept when this device and another one changed the same record.
    ///
    /// It has no default: a function of almost the right shape would be ignored in silence. It must depend on
    /// nothing but the conflict, so that every device comes to the same result. Throwing parks the edit with
    /// the error; the server's value is then delivered, and neither side is lost.
    ///
    /// - Parameter conflict: Both sides, their common ancestor where known, and when each was edited.
    /// - Returns: The model to keep, or `nil` to give up this device's change and keep the server's.
    /// - Throws: Whatever keeps the function from deciding.
    static func resolveConflict(_ conflict: Conflict<Self>) throws -> Self?

    /// Decides what is kept when a record edited here was deleted in the cloud; by default `nil`: deletes
    /// win.
    ///
    /// The default discards the pending edit. The engine asks when a fetch brings the deletion, and when the server
    /// answers a save with `unknownItem`.
    ///
    /// - Parameter client: The newest model of this device.
    /// - Returns: The model to create anew, or `nil` to accept the deletion.
    /// - Throws: Whatever keeps the function from deciding.
    static func resolveDeletion(of client: Self) throws -> Self?
}

extension RecordCodable {
    /// The name of the Swift type.
    public static var recordType: String { String(describing: Self.self) }

    /// Version 1.
    public static var schemaVersion: Int { 1 }

    /// Accepts the deletion.
    ///
    /// - Parameter client: The newest model of this device.
    /// - Returns: `nil`.
    /// - Throws: Nothing; the requirement allows it.
    public static func resolveDeletion(of client: Self) throws -> Self? { nil }
}

extension RecordCodable where Self: Identifiable, ID == UUID {
    /// The id as an upper-case UUID string.
    public var recordName: String { id.uuidString }
}

extension RecordCodable where Self: Identifiable, ID == String {
    /// The id as it is.
    public var recordName: String { id }
}

/// A model that keeps the server's system fields itself.
///
/// A model that conforms receives them with every change. The key `systemFields` never becomes a field of the
/// record. Most models need not conform: the engine keeps its own copy, and storing them makes two models
/// unequal after every save.
public protocol SystemFieldsStoring: RecordCodable {
    /// The server's system fields as an opaque blob; `nil` before the first save.
    var systemFields: Data? { get set }
}
