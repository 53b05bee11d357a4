import CloudKit
import CodableSync
import CoreLocation
import Foundation

// Records of the server in the place of CloudKit's, and back.
extension FakeCloudKit {
    // MARK: To the server

    func server(
        _ record: CKRecord,
        savePolicy: CKModifyRecordsOperation.RecordSavePolicy
    ) throws -> Record {
        var fields: [String: RecordValue] = [:]
        let views: [(any CKRecordKeyValueSetting, Bool)] = [(record, false), (record.encryptedValues, true)]
        for (view, isEncrypted) in views {
            let all = savePolicy == .allKeys ? view.allKeys() : []
            for key in Set(view.changedKeys() + all) {
                try note(key, of: record.recordType, isEncrypted: isEncrypted)
                fields[key] = try view[key].map(server) ?? .null
            }
        }
        return Record(
            recordType: record.recordType,
            recordID: server(record.recordID),
            fields: fields,
            systemFields: record.recordChangeTag.map { SystemFields(recordChangeTag: $0) },
            parent: record.parent.map { server($0) }
        )
    }

    func server(_ recordID: CKRecord.ID) -> RecordID {
        RecordID(recordName: recordID.recordName, zoneID: server(recordID.zoneID))
    }

    func server(_ zoneID: CKRecordZone.ID) -> ZoneID {
        let isOwn = zoneID.ownerName == device.user
        return ZoneID(
            zoneName: zoneID.zoneName,
            ownerName: isOwn ? ZoneID.currentUserOwnerName : zoneID.ownerName
        )
    }

    private func server(_ reference: CKRecord.Reference) -> RecordReference {
        RecordReference(
            recordName: reference.recordID.recordName,
            zoneID: server(reference.recordID.zoneID),
            action: reference.action == .deleteSelf ? .deleteSelf : .none
        )
    }

    private func server(_ value: any CKRecordValueProtocol) throws -> RecordValue {
        switch value {
        case let text as NSString: return .string(String(describing: text))
        case let date as NSDate:
            return .date(Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate))
        case let data as NSData: return .bytes(Data(referencing: data))
        case let reference as CKRecord.Reference: return .reference(server(reference))
        case let place as CLLocation:
            return .location(
                RecordLocation(
                    latitude: place.coordinate.latitude,
                    longitude: place.coordinate.longitude,
                    altitude: place.altitude,
                    horizontalAccuracy: place.horizontalAccuracy,
                    verticalAccuracy: place.verticalAccuracy,
                    course: place.course,
                    speed: place.speed,
                    timestamp: place.timestamp
                )
            )
        case let asset as CKAsset: return .asset(RecordAsset(fileURL: asset.fileURL))
        case let number as NSNumber:
            return String(cString: number.objCType) == "d"
                ? .double(number.doubleValue) : .int64(number.int64Value)
        case let list as NSArray:
            return .list(
                try list.map { element in
                    guard let element = element as? any CKRecordValueProtocol else {
                        throw CKError(.invalidArguments)
                    }
                    return try server(StandIn.object(element))
                }
            )
        default: throw CKError(.invalidArguments)
        }
    }

    // MARK: From the server

    func native(_ record: Record) -> CKRecord {
        let recordID = native(record.recordID)
        let made = CKRecord(recordType: record.recordType, recordID: recordID)
        for (name, value) in record.fields {
            if isEncrypted(name, of: record.recordType) {
                made.encryptedValues[name] = native(value)
            } else {
                made[name] = native(value)
            }
        }
        made.parent = record.parent.map { native($0) }
        changeRecord.with { $0 }?(made)
        made.standInSetSystemFields(
            recordChangeTag: record.recordChangeTag ?? "",
            creationDate: record.systemFields?.creationDate,
            modificationDate: record.systemFields?.modificationDate,
            creator: record.systemFields?.creatorUserRecordName.map(userID),
            modifier: record.systemFields?.lastModifiedUserRecordName.map(userID)
        )
        return made
    }

    private func userID(_ user: String) -> CKRecord.ID {
        let isPlaceholder = differences.hasPlaceholderForUser && user == device.user
        return CKRecord.ID(recordName: isPlaceholder ? CKCurrentUserDefaultName : user)
    }

    func native(_ recordID: RecordID) -> CKRecord.ID {
        CKRecord.ID(recordName: recordID.recordName, zoneID: native(recordID.zoneID))
    }

    func native(_ zoneID: ZoneID) -> CKRecordZone.ID {
        let isOwn = zoneID.ownerName == ZoneID.currentUserOwnerName && zoneID != .default
        let owner = differences.namesOwner && isOwn ? device.user : nil
        return CKRecordZone.ID(zoneName: zoneID.zoneName, ownerName: owner ?? zoneID.ownerName)
    }

    private func native(_ reference: RecordReference) -> CKRecord.Reference {
        CKRecord.Reference(
            recordID: CKRecord.ID(
                recordName: reference.recordName,
                zoneID: reference.zoneID.map { native($0) } ?? .default
            ),
            action: reference.action == .deleteSelf ? .deleteSelf : .none
        )
    }

    private func native(_ value: RecordValue) -> (any CKRecordValueProtocol)? {
        switch value {
        case .string(let text): NSString(string: text)
        case .int64(let number): NSNumber(value: number)
        case .double(let number): NSNumber(value: number)
        case .date(let date):
            NSDate(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate)
        case .bytes(let data): NSData(data: data)
        case .reference(let reference): native(reference)
        case .location(let place):
            CLLocation(
                coordinate: CLLocationCoordinate2D(latitude: place.latitude, longitude: place.longitude),
                altitude: place.altitude ?? 0,
                horizontalAccuracy: place.horizontalAccuracy ?? 0,
                verticalAccuracy: place.verticalAccuracy ?? 0,
                course: place.course ?? 0,
                speed: place.speed ?? 0,
                timestamp: place.timestamp ?? Date(timeIntervalSince1970: 0)
            )
        case .asset(let asset): asset.fileURL.map(CKAsset.init(fileURL:))
        case .list(let values): NSArray(array: values.compactMap { native($0) }.map { $0 as Any })
        case .null: nil
        }
    }
}
