import struct Foundation.Data
import class Foundation.NSLock

/// What most records in memory lack, on the heap, with the blob of the system fields.
///
/// Records share an instance, and a change of a record replaces it, so it is a value: the blob follows from the
/// values, which never change.
///
/// `@unchecked Sendable` is correct because `blob`, the only variable, is accessed only while the lock is held.
final class RecordDetails: Hashable, @unchecked Sendable {
    struct Values: Hashable, Sendable {
        var systemFields: SystemFields?
        var parent: RecordReference?
        var encryptedFields: Set<String> = []
        var unknownFields: [String: String] = [:]

        var isEmpty: Bool {
            systemFields == nil && parent == nil && encryptedFields.isEmpty && unknownFields.isEmpty
        }
    }

    /// One lock for all, which is held only to load or store a blob.
    private static let lock = NSLock()

    let values: Values
    private var blob: Data?

    private init(_ values: Values) { self.values = values }

    /// The details with values; `nil` if there is nothing to hold.
    static func holding(_ values: Values) -> RecordDetails? { values.isEmpty ? nil : RecordDetails(values) }

    static func == (lhs: RecordDetails, rhs: RecordDetails) -> Bool {
        lhs === rhs || lhs.values == rhs.values
    }

    func hash(into hasher: inout Hasher) { values.hash(into: &hasher) }

    /// The system fields as a blob, made once; threads that need it first at the same time make equal ones.
    var systemFieldsBlob: Data? {
        RecordDetails.lock.lock()
        let known = blob
        RecordDetails.lock.unlock()
        if let known { return known }
        guard let made = values.systemFields?.encodedBlob else { return nil }
        RecordDetails.lock.withLock { blob = made }
        return made
    }
}
