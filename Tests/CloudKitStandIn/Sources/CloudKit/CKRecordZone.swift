// Apple documents these declarations.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Foundation

public let CKCurrentUserDefaultName = "__defaultOwner__"

/// Immutable.
open class CKRecordZone: NSObject, @unchecked Sendable {
    // Sendable is correct: there are only constants.
    public let zoneID: CKRecordZone.ID

    public init(zoneID: CKRecordZone.ID) {
        self.zoneID = zoneID
    }
}

extension CKRecordZone {
    /// Immutable; equal if both names are.
    open class ID: NSObject, NSCopying, @unchecked Sendable {
        // Sendable is correct: there are only constants.
        public static let defaultZoneName = "_defaultZone"
        public static let `default` = CKRecordZone.ID()

        public let zoneName: String
        public let ownerName: String

        public init(
            zoneName: String = CKRecordZone.ID.defaultZoneName,
            ownerName: String = CKCurrentUserDefaultName
        ) {
            StandIn.check(name: zoneName, .zoneName)
            StandIn.check(name: ownerName, .ownerName)
            self.zoneName = zoneName
            self.ownerName = ownerName
        }

        open func copy(with zone: NSZone? = nil) -> Any { self }

        open override func isEqual(_ object: Any?) -> Bool {
            guard let other = object as? CKRecordZone.ID else { return false }
            return zoneName.utf8.elementsEqual(other.zoneName.utf8)
                && ownerName.utf8.elementsEqual(other.ownerName.utf8)
        }

        open override var hash: Int { Array(zoneName.utf8).hashValue }
    }
}
