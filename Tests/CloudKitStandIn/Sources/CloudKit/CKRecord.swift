// Apple documents these declarations.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Foundation

/// Sendable like Apple's class, although mutable: one task at a time uses a record.
open class CKRecord: NSObject, NSSecureCoding, NSCopying, CKRecordKeyValueSetting, @unchecked Sendable {
    public typealias RecordType = String
    public typealias FieldKey = String

    public enum ReferenceAction: UInt, Sendable {
        case none = 0
        case deleteSelf = 1
    }

    public let recordType: CKRecord.RecordType
    public let recordID: CKRecord.ID
    public internal(set) var recordChangeTag: String?
    public internal(set) var creationDate: Date?
    public internal(set) var modificationDate: Date?
    public internal(set) var creatorUserRecordID: CKRecord.ID?
    public internal(set) var lastModifiedUserRecordID: CKRecord.ID?
    open var parent: CKRecord.Reference? {
        didSet { StandIn.check(parent?.action != .deleteSelf, "the action of a parent is not none") }
    }

    let values = CKRecordValues()
    let encrypted = CKRecordValues()

    public init(recordType: CKRecord.RecordType, recordID: CKRecord.ID = CKRecord.ID()) {
        StandIn.check(name: recordType, .identifier)
        self.recordType = recordType
        self.recordID = recordID
    }

    open var encryptedValues: any CKRecordKeyValueSetting & Sendable { encrypted }

    open func allKeys() -> [CKRecord.FieldKey] { values.allKeys() }

    open func changedKeys() -> [CKRecord.FieldKey] { values.changedKeys() }

    // MARK: Coding

    public static var supportsSecureCoding: Bool { true }

    public required init?(coder: NSCoder) {
        guard let type = coder.decodeObject(of: NSString.self, forKey: "RecordType"),
            let recordID = CKRecord.ID.decoded(coder, "Record")
        else { return nil }
        recordType = type as String
        self.recordID = recordID
        recordChangeTag = coder.decodeObject(of: NSString.self, forKey: "ETag").map { $0 as String }
        creationDate = coder.decodeObject(of: NSDate.self, forKey: "Created").map { $0 as Date }
        modificationDate = coder.decodeObject(of: NSDate.self, forKey: "Modified").map { $0 as Date }
        creatorUserRecordID = CKRecord.ID.decoded(coder, "Creator")
        lastModifiedUserRecordID = CKRecord.ID.decoded(coder, "Modifier")
        if let parentID = CKRecord.ID.decoded(coder, "Parent") {
            parent = CKRecord.Reference(recordID: parentID, action: .none)
        }
        values.isRestored = true
        encrypted.isRestored = true
    }

    open func encodeSystemFields(with coder: NSCoder) {
        coder.encode(recordType as NSString, forKey: "RecordType")
        recordID.encode(coder, "Record")
        coder.encode(recordChangeTag.map { $0 as NSString }, forKey: "ETag")
        coder.encode(creationDate.map { $0 as NSDate }, forKey: "Created")
        coder.encode(modificationDate.map { $0 as NSDate }, forKey: "Modified")
        creatorUserRecordID?.encode(coder, "Creator")
        lastModifiedUserRecordID?.encode(coder, "Modifier")
        parent?.recordID.encode(coder, "Parent")
        // Nobody promises that equal records have equal archives.
        coder.encode(UUID().uuidString as NSString, forKey: "Archive")
    }

    open func encode(with coder: NSCoder) { encodeSystemFields(with: coder) }

    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = CKRecord(recordType: recordType, recordID: recordID)
        copy.recordChangeTag = recordChangeTag
        copy.creationDate = creationDate
        copy.modificationDate = modificationDate
        copy.creatorUserRecordID = creatorUserRecordID
        copy.lastModifiedUserRecordID = lastModifiedUserRecordID
        copy.parent = parent
        copy.values.become(values)
        copy.encrypted.become(encrypted)
        return copy
    }
}

extension CKRecord {
    /// Immutable; equal if name and zone are.
    open class ID: NSObject, NSCopying, @unchecked Sendable {
        // Sendable is correct: there are only constants.
        public let recordName: String
        public let zoneID: CKRecordZone.ID

        public init(
            recordName: String = UUID().uuidString,
            zoneID: CKRecordZone.ID = CKRecordZone.ID.default
        ) {
            StandIn.check(name: recordName, .recordName)
            self.recordName = recordName
            self.zoneID = zoneID
        }

        // Other Foundations cannot archive a class inside of another one, so its parts are archived.

        func encode(_ coder: NSCoder, _ key: String) {
            coder.encode(recordName as NSString, forKey: "\(key)Name")
            coder.encode(zoneID.zoneName as NSString, forKey: "\(key)ZoneName")
            coder.encode(zoneID.ownerName as NSString, forKey: "\(key)OwnerName")
        }

        static func decoded(_ coder: NSCoder, _ key: String) -> CKRecord.ID? {
            guard let name = coder.decodeObject(of: NSString.self, forKey: "\(key)Name"),
                let zone = coder.decodeObject(of: NSString.self, forKey: "\(key)ZoneName"),
                let owner = coder.decodeObject(of: NSString.self, forKey: "\(key)OwnerName")
            else { return nil }
            let zoneID = CKRecordZone.ID(zoneName: zone as String, ownerName: owner as String)
            return CKRecord.ID(recordName: name as String, zoneID: zoneID)
        }

        open func copy(with zone: NSZone? = nil) -> Any { self }

        open override func isEqual(_ object: Any?) -> Bool {
            guard let other = object as? CKRecord.ID else { return false }
            return recordName.utf8.elementsEqual(other.recordName.utf8) && zoneID.isEqual(other.zoneID)
        }

        open override var hash: Int { Array(recordName.utf8).hashValue }
    }

    /// Immutable; equal if target and action are.
    open class Reference: NSObject, NSCopying, @unchecked Sendable {
        // Sendable is correct: there are only constants.
        public let recordID: CKRecord.ID
        public let action: CKRecord.ReferenceAction

        public init(recordID: CKRecord.ID, action: CKRecord.ReferenceAction) {
            self.recordID = recordID
            self.action = action
        }

        open func copy(with zone: NSZone? = nil) -> Any { self }

        open override func isEqual(_ object: Any?) -> Bool {
            guard let other = object as? CKRecord.Reference else { return false }
            return recordID.isEqual(other.recordID) && action == other.action
        }

        open override var hash: Int { recordID.hash }
    }
}
