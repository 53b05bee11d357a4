#if canImport(CloudKit)
    import CloudKit
    import CoreLocation
    import Foundation
    import RecordCoding

    /// Converts values for CloudKit.
    ///
    /// CloudKit's classes raise exceptions for invalid names and values, and Swift can't catch them, so the
    /// writer checks everything first.
    struct CloudKitWriter: Sendable {
        var savePolicy: SavePolicy
        var scope: DatabaseScope

        /// Creates the record to send: the archived system fields, and the fields of the save as changed
        /// keys.
        func record(_ record: Record) throws(CloudError) -> CKRecord {
            do throws(RecordCodingError) {
                try RecordLimits.check(record)
            } catch {
                throw CloudError(refusing: error)
            }
            if scope == .public, record.fields.keys.contains(where: record.encryptedFields.contains) {
                throw CloudError(.invalidArguments, message: "The public database has no encrypted fields.")
            }
            let target = try target(for: record)
            for (name, value) in record.fields {
                let view: any CKRecordKeyValueSetting
                if record.encryptedFields.contains(name) {
                    view = target.encryptedValues
                } else {
                    view = target
                }
                if let value = try self.value(value, in: target.recordID.zoneID) {
                    view[name] = value
                } else {
                    try clear(name, in: view, of: target, isNew: record.systemFields == nil)
                }
            }
            if let parent = record.parent {
                guard parent.action == .none else {
                    throw CloudError(.invalidArguments, message: "The action of a parent must be none.")
                }
                if let zoneID = parent.zoneID, !zoneID.isSameZone(as: record.recordID.zoneID) {
                    throw CloudError(
                        .invalidArguments,
                        message: "A parent must be in the zone of its record."
                    )
                }
                target.parent = try reference(parent, in: target.recordID.zoneID)
            }
            return target
        }

        /// A record without fields, with the client's change tag if it has one.
        private func target(for record: Record) throws(CloudError) -> CKRecord {
            let new = CKRecord(recordType: record.recordType, recordID: try CKRecord.ID(record.recordID))
            guard let systemFields = record.systemFields else { return new }
            let restored = systemFields.archive.flatMap(CKRecord.restored(from:))
            if let restored, restored.recordID.recordName == record.recordID.recordName,
                ZoneID(restored.recordID.zoneID).isSameZone(as: record.recordID.zoneID)
            {
                guard restored.recordType == record.recordType else {
                    throw CloudError(.invalidArguments, message: "The type of a record cannot change.")
                }
                return restored
            }
            // Without the archive the change tag cannot be sent. Without the tag CloudKit would create a record
            // that was deleted, so the save counts as a conflict, and the record is looked up.
            if savePolicy == .ifServerRecordUnchanged {
                throw CloudError(
                    .serverRecordChanged,
                    message: "The system fields are not CloudKit's, or those of another record."
                )
            }
            return new
        }

        /// Removes a field, so that the record names it as a changed key.
        ///
        /// CloudKit sends changed keys only. A record that was restored from its system fields has no values, so
        /// clearing one of them may count as no change. A new record has nothing to clear.
        private func clear(
            _ name: String,
            in view: any CKRecordKeyValueSetting,
            of record: CKRecord,
            isNew: Bool
        ) throws(CloudError) {
            // With its type, since CloudKit has three subscripts.
            var value: (any CKRecordValueProtocol)? = ""
            view[name] = value
            value = nil
            view[name] = value
            guard isNew || view.changedKeys().contains(name) || record.changedKeys().contains(name) else {
                throw CloudError(
                    .invalidArguments,
                    message: "CloudKit would not clear the field \(name.quoted)."
                )
            }
        }

        // MARK: Values

        private func value(
            _ value: RecordValue,
            in zoneID: CKRecordZone.ID
        ) throws(CloudError) -> (any CKRecordValueProtocol)? {
            switch value {
            case .null: return nil
            case .string(let text): return text
            case .int64(let number): return number
            case .double(let number): return number
            case .date(let date): return date.rounded
            case .bytes(let bytes): return bytes
            case .reference(let target): return try reference(target, in: zoneID)
            case .location(let location): return CLLocation(location)
            case .asset(let asset): return try self.asset(asset)
            case .list(let values):
                var elements: [Any] = []
                for element in values {
                    if let element = try self.value(element, in: zoneID) { elements.append(element) }
                }
                return NSArray(array: elements)
            }
        }

        private func reference(
            _ reference: RecordReference,
            in zoneID: CKRecordZone.ID
        ) throws(CloudError) -> CKRecord.Reference {
            let targetZone = try reference.zoneID.map { zoneID throws(CloudError) in
                try CKRecordZone.ID(zoneID)
            }
            let action: CKRecord.ReferenceAction =
                switch reference.action {
                case .none: .none
                case .deleteSelf: .deleteSelf
                }
            return CKRecord.Reference(
                recordID: CKRecord.ID(recordName: reference.recordName, zoneID: targetZone ?? zoneID),
                action: action
            )
        }

        private func asset(_ asset: RecordAsset) throws(CloudError) -> CKAsset {
            guard let file = asset.fileURL, file.isFileURL else { throw CloudError(.assetFileNotFound) }
            return CKAsset(fileURL: file)
        }
    }

    extension CKRecord.ID {
        /// Converts an ID.
        ///
        /// - Throws: `invalidArguments` for invalid names.
        convenience init(_ recordID: RecordID) throws(CloudError) {
            do throws(RecordCodingError) {
                try RecordLimits.checkRecordName(recordID.recordName)
            } catch {
                throw CloudError(refusing: error)
            }
            self.init(recordName: recordID.recordName, zoneID: try CKRecordZone.ID(recordID.zoneID))
        }
    }

    extension CKRecordZone.ID {
        /// Converts an ID.
        ///
        /// - Throws: `invalidArguments` for invalid names.
        convenience init(_ zoneID: ZoneID) throws(CloudError) {
            do throws(RecordCodingError) {
                try RecordLimits.check(zoneID)
            } catch {
                throw CloudError(refusing: error)
            }
            self.init(zoneName: zoneID.zoneName, ownerName: zoneID.ownerName)
        }
    }

    extension CKModifyRecordsOperation.RecordSavePolicy {
        init(_ policy: SavePolicy) {
            switch policy {
            case .ifServerRecordUnchanged: self = .ifServerRecordUnchanged
            case .changedKeys: self = .changedKeys
            case .allKeys: self = .allKeys
            }
        }
    }
#endif
