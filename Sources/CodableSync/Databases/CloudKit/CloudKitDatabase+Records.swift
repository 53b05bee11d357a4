#if canImport(CloudKit)
    import CloudKit
    import Foundation
    public import RecordCoding

    extension CloudKitDatabase {
        /// Saves and deletes records.
        ///
        /// A save whose system fields aren't CloudKit's, or belong to another record, fails with
        /// `serverRecordChanged`.
        ///
        /// - Parameters:
        ///   - recordsToSave: The records to save, with the fields to write; no ID twice.
        ///   - recordIDsToDelete: The records to delete.
        ///   - savePolicy: What happens if the server has another version.
        ///   - atomically: Whether the changes in each zone succeed or fail together.
        /// - Returns: A result for each record that CloudKit mentions in its response.
        /// - Throws: ``CloudError`` if the request as a whole failed.
        public func modifyRecords(
            saving recordsToSave: [Record],
            deleting recordIDsToDelete: [RecordID],
            savePolicy: SavePolicy,
            atomically: Bool
        ) async throws -> ModifyRecordsResult {
            try checkUnique(recordsToSave.map(\.recordID) + recordIDsToDelete)
            let writer = CloudKitWriter(savePolicy: savePolicy, scope: scope)
            let changes = RecordChanges(recordsToSave, recordIDsToDelete, writer, atomically: atomically)
            if changes.isEmpty { return changes.refused }
            let reader = reader
            return try await perform { database in
                do {
                    let answer = try await database.modifyRecords(
                        saving: changes.saves.map(\.record),
                        deleting: changes.deletions.map(\.recordID),
                        savePolicy: CKModifyRecordsOperation.RecordSavePolicy(savePolicy),
                        atomically: atomically
                    )
                    return changes.result(answer.saveResults, answer.deleteResults, reader)
                } catch let error as CKError {
                    guard let errors = error.itemErrors else { throw error }
                    return changes.result(errors, reader)
                }
            }
        }

        /// Looks up records.
        ///
        /// - Parameters:
        ///   - ids: The records' IDs.
        ///   - desiredKeys: The fields to return; `nil` returns all, an empty list only the system fields.
        /// - Returns: The record for each ID, or why there is none.
        /// - Throws: ``CloudError`` if the request as a whole failed.
        public func records(
            for ids: [RecordID],
            desiredKeys: [String]?
        ) async throws -> [RecordID: Result<Record, CloudError>] {
            let request = IDs(ids) { id throws(CloudError) in try CKRecord.ID(id) }
            if request.isEmpty { return request.refused() }
            let reader = reader
            return try await perform { database in
                var results: [RecordID: Result<Record, CloudError>] = request.refused()
                do {
                    let answer = try await database.records(for: request.converted, desiredKeys: desiredKeys)
                    let asked = AskedRecords(request.pairs.map { (id: $0.id, recordID: $0.converted) })
                    for (recordID, result) in answer {
                        let id = asked.id(recordID)
                        results[id] = reader.result(result, of: recordID, in: id.zoneID)
                    }
                } catch let error as CKError {
                    guard let errors = error.itemErrors else { throw error }
                    for (id, recordID) in request.pairs {
                        results[id] = errors.error(of: recordID).map { .failure(reader.error($0)) }
                    }
                }
                return results
            }
        }
    }

    /// The records of a request, to find the results in its response.
    private struct AskedRecords {
        private let ids: [CKRecord.ID: RecordID]
        private let zones: Set<ZoneID>

        init(_ pairs: [(id: RecordID, recordID: CKRecord.ID)]) {
            ids = Dictionary(pairs.map { ($0.recordID, $0.id) }) { first, _ in first }
            zones = Set(pairs.map(\.id.zoneID))
        }

        /// The ID as the request spelled it; CloudKit's if the request did not name the record.
        func id(_ recordID: CKRecord.ID) -> RecordID {
            if let id = ids[recordID] { return id }
            let found = ZoneID(recordID.zoneID)
            let zoneID = zones.first { $0.isSameZone(as: found) } ?? found
            return RecordID(recordName: recordID.recordName, zoneID: zoneID)
        }
    }

    /// The changes of one request, and results for those that can't be sent.
    private struct RecordChanges: Sendable {
        private(set) var saves: [(id: RecordID, record: CKRecord)] = []
        private(set) var deletions: [(id: RecordID, recordID: CKRecord.ID)] = []
        private(set) var refused = ModifyRecordsResult()
        private let isAtomic: Bool

        var isEmpty: Bool { saves.isEmpty && deletions.isEmpty }

        init(
            _ recordsToSave: [Record],
            _ recordIDsToDelete: [RecordID],
            _ writer: CloudKitWriter,
            atomically: Bool
        ) {
            isAtomic = atomically
            var refusedZones: Set<ZoneID> = []
            for record in recordsToSave {
                do throws(CloudError) {
                    saves.append((record.recordID, try writer.record(record)))
                } catch {
                    refused.saveResults[record.recordID] = .failure(error)
                    refusedZones.insert(record.recordID.zoneID)
                }
            }
            for id in recordIDsToDelete {
                do throws(CloudError) {
                    deletions.append((id, try CKRecord.ID(id)))
                } catch {
                    refused.deleteResults[id] = error
                    refusedZones.insert(id.zoneID)
                }
            }
            if atomically, !refusedZones.isEmpty { withhold(refusedZones) }
        }

        /// Fails the changes that share an atomic request with one that can't be sent.
        private mutating func withhold(_ zones: Set<ZoneID>) {
            for (id, _) in saves where zones.contains(id.zoneID) {
                refused.saveResults[id] = .failure(CloudError(.batchRequestFailed))
            }
            for (id, _) in deletions where zones.contains(id.zoneID) {
                refused.deleteResults[id] = CloudError(.batchRequestFailed)
            }
            saves.removeAll { zones.contains($0.id.zoneID) }
            deletions.removeAll { zones.contains($0.id.zoneID) }
        }

        /// Converts a response.
        func result(
            _ saveResults: [CKRecord.ID: Result<CKRecord, any Error>],
            _ deleteResults: [CKRecord.ID: Result<Void, any Error>],
            _ reader: CloudKitReader
        ) -> ModifyRecordsResult {
            var result = refused
            let asked = AskedRecords(saves.map { (id: $0.id, recordID: $0.record.recordID) } + deletions)
            for (recordID, saved) in saveResults {
                let id = asked.id(recordID)
                result.saveResults[id] = reader.result(saved, of: recordID, in: id.zoneID)
            }
            for (recordID, deleted) in deleteResults {
                let id = asked.id(recordID)
                result.deleteResults[id] = .some(reader.failure(deleted, of: recordID, in: id.zoneID))
            }
            return result
        }

        /// Converts the errors of a response that has only errors.
        ///
        /// An atomic request changes nothing in a zone with errors. What else it saved is unknown and gets no
        /// result.
        func result(_ errors: [AnyHashable: any Error], _ reader: CloudKitReader) -> ModifyRecordsResult {
            let failedZones = Set(errors.keys.compactMap { ($0 as? CKRecord.ID)?.zoneID })
            func failure(_ recordID: CKRecord.ID, _ id: RecordID) -> CloudError? {
                if let error = errors.error(of: recordID) { return reader.error(error, in: id.zoneID) }
                let isUndone = isAtomic && failedZones.contains { $0.isSame(as: recordID.zoneID) }
                return isUndone ? CloudError(.batchRequestFailed) : nil
            }
            var result = refused
            for (id, record) in saves {
                result.saveResults[id] = failure(record.recordID, id).map { .failure($0) }
            }
            for (id, recordID) in deletions {
                if let error = failure(recordID, id) { result.deleteResults[id] = error }
            }
            return result
        }
    }
#endif
