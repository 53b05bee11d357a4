#if canImport(CloudKit)
    import CloudKit
    import CoreLocation
    import Foundation
    import RecordCoding

    /// Converts what CloudKit returns.
    struct CloudKitReader: Sendable {
        /// The user's record name, which replaces `__defaultOwner__` in CloudKit's records; `nil` if unknown.
        var user: String?

        /// Converts a record, with the names of its encrypted fields.
        ///
        /// These are the keys that the encrypted view has and the plain one does not. Values of a kind that this
        /// version does not know become the record's unknown fields.
        ///
        /// - Parameters:
        ///   - record: The record.
        ///   - zoneID: The zone as the request spelled it; `nil` takes CloudKit's spelling.
        /// - Returns: The record.
        func record(_ record: CKRecord, in zoneID: ZoneID? = nil) -> Record {
            let recordID = id(record.recordID, in: zoneID)
            var fields: [String: RecordValue] = [:]
            var encryptedFields: Set<String> = []
            var unknown: [String: String] = [:]
            let views: [(any CKRecordKeyValueSetting, isEncrypted: Bool)] = [
                (record, false), (record.encryptedValues, true),
            ]
            for (view, isEncrypted) in views {
                for key in view.allKeys() where fields[key] == nil && unknown[key] == nil {
                    // With its type, since CloudKit has three subscripts.
                    let stored: (any CKRecordValueProtocol)? = view[key]
                    // A view may list keys of the other one, whose values it does not have.
                    guard let stored else { continue }
                    if let value = value(stored, of: record) {
                        fields[key] = value
                        if isEncrypted { encryptedFields.insert(key) }
                    } else {
                        unknown[key] = kind(of: stored, in: record)
                    }
                }
            }
            var converted = Record(
                recordType: record.recordType,
                recordID: recordID,
                fields: fields,
                systemFields: systemFields(of: record),
                parent: record.parent.map { reference($0, of: record) }
            )
            if !encryptedFields.isEmpty { converted.encryptedFields = encryptedFields }
            if !unknown.isEmpty { converted.unknownFields = unknown }
            return converted
        }

        /// Converts the ID of a record.
        ///
        /// - Parameters:
        ///   - recordID: The ID.
        ///   - zoneID: The zone as the request spelled it, since CloudKit may spell the current user in another
        ///     way.
        /// - Returns: The ID.
        func id(_ recordID: CKRecord.ID, in zoneID: ZoneID? = nil) -> RecordID {
            let found = ZoneID(recordID.zoneID)
            let isSame = zoneID?.isSameZone(as: found) ?? false
            return RecordID(recordName: recordID.recordName, zoneID: isSame ? zoneID ?? found : found)
        }

        private func systemFields(of record: CKRecord) -> SystemFields? {
            guard let tag = record.recordChangeTag else { return nil }
            return SystemFields(
                recordChangeTag: tag,
                creationDate: record.creationDate,
                modificationDate: record.modificationDate,
                creatorUserRecordName: record.creatorUserRecordID.map(name),
                lastModifiedUserRecordName: record.lastModifiedUserRecordID.map(name),
                archive: record.systemFieldsArchive
            )
        }

        private func name(_ userID: CKRecord.ID) -> String {
            userID.recordName == CKCurrentUserDefaultName ? user ?? userID.recordName : userID.recordName
        }

        // MARK: Values

        private func value(_ value: Any, of record: CKRecord) -> RecordValue? {
            switch value {
            case let text as String: .string(text)
            case let date as Date: .date(date)
            case let bytes as Data: .bytes(bytes)
            case let target as CKRecord.Reference: .reference(reference(target, of: record))
            case let location as CLLocation: .location(RecordLocation(location))
            case let asset as CKAsset: .asset(RecordAsset(fileURL: asset.fileURL))
            case let number as NSNumber:
                number.isFloatingPoint ? .double(number.doubleValue) : .int64(number.int64Value)
            case let values as NSArray: list(values, of: record)
            default: nil
            }
        }

        private func list(_ values: NSArray, of record: CKRecord) -> RecordValue? {
            let elements = values.map { value($0, of: record) }
            return elements.contains(nil) ? nil : .list(elements.compactMap { $0 })
        }

        /// The name of the class that this version does not know.
        private func kind(of value: Any, in record: CKRecord) -> String {
            let elements = (value as? NSArray)?.filter { self.value($0, of: record) == nil } ?? []
            return elements.first.map { "list of \(type(of: $0))" } ?? "\(type(of: value))"
        }

        private func reference(_ reference: CKRecord.Reference, of record: CKRecord) -> RecordReference {
            let zoneID = reference.recordID.zoneID
            let action: RecordReference.Action =
                switch reference.action {
                case .none: .none
                case .deleteSelf: .deleteSelf
                @unknown default: .none
                }
            return RecordReference(
                recordName: reference.recordID.recordName,
                zoneID: zoneID == record.recordID.zoneID ? nil : ZoneID(zoneID),
                action: action
            )
        }
    }

    extension ZoneID {
        init(_ zoneID: CKRecordZone.ID) {
            self.init(zoneName: zoneID.zoneName, ownerName: zoneID.ownerName)
        }
    }

    extension NSNumber {
        /// Whether the number was made from a `Double` or a `Float`.
        fileprivate var isFloatingPoint: Bool { ["d", "f"].contains(String(cString: objCType)) }
    }
#endif
