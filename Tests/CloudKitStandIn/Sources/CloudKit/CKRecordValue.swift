// Apple documents these declarations.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CoreLocation
public import Foundation

public protocol CKRecordValueProtocol {}

extension String: CKRecordValueProtocol {}
extension Date: CKRecordValueProtocol {}
extension Data: CKRecordValueProtocol {}
extension Int64: CKRecordValueProtocol {}
extension Double: CKRecordValueProtocol {}
extension NSString: CKRecordValueProtocol {}
extension NSDate: CKRecordValueProtocol {}
extension NSData: CKRecordValueProtocol {}
extension NSNumber: CKRecordValueProtocol {}
extension NSArray: CKRecordValueProtocol {}
extension CKRecord.Reference: CKRecordValueProtocol {}
extension CKAsset: CKRecordValueProtocol {}
extension CLLocation: CKRecordValueProtocol {}

public protocol CKRecordKeyValueSetting: NSObjectProtocol {
    func allKeys() -> [String]
    func changedKeys() -> [String]
}

extension CKRecordKeyValueSetting {
    // Both overloads of Apple's are here, since an assignment chooses between them.

    public subscript<T: CKRecordValueProtocol>(key: CKRecord.FieldKey) -> T? {
        get { table?.value(key) as? T }
        set { table?.set(newValue, key) }
    }

    public subscript(key: CKRecord.FieldKey) -> (any CKRecordValueProtocol)? {
        get { table?.value(key) }
        set { table?.set(newValue, key) }
    }

    private var table: CKRecordValues? { self as? CKRecordValues ?? (self as? CKRecord)?.values }
}

/// One of the two views of a record's values.
final class CKRecordValues: NSObject, CKRecordKeyValueSetting, @unchecked Sendable {
    // Like the record that it is part of, it is mutable and not shared.
    private(set) var values: [String: any CKRecordValueProtocol] = [:]
    var changed: Set<String> = []
    /// Whether the record was restored from its system fields, so that its values are unknown.
    var isRestored = false
    var listsMore: [String] = []
    /// The values of the other view, if this one shows them too.
    var showsMore: CKRecordValues?

    func allKeys() -> [String] { Set(values.keys).union(listsMore).sorted() }

    func changedKeys() -> [String] { changed.sorted() }

    func value(_ key: String) -> (any CKRecordValueProtocol)? { values[key] ?? showsMore?.values[key] }

    func set(_ value: (any CKRecordValueProtocol)?, _ key: String) {
        StandIn.check(name: key, .field)
        // Clearing what the record does not have may be no change: no documentation says that it is one.
        let isChange = value != nil || values[key] != nil
        values[key] = value.map(StandIn.object)
        if isChange { changed.insert(key) }
        // A new record has nothing to clear.
        if value == nil, !isRestored { changed.remove(key) }
    }

    func become(_ other: CKRecordValues) {
        values = other.values
        changed = other.changed
    }
}
