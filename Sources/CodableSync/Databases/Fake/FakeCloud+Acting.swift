public import RecordCoding

// Simulating the user's other devices, and the user's actions in the system's settings.
extension FakeCloud {
    /// Returns all records of a zone by record name.
    ///
    /// - Parameters:
    ///   - user: The user whose database it is.
    ///   - zoneID: The zone.
    /// - Returns: Copies of the records; none if the zone does not exist.
    public func records(user: String = FakeCloud.defaultUser, in zoneID: ZoneID) -> [String: Record] {
        read { $0.records(in: zoneID, of: user) }
    }

    /// Returns the models of one type in the cloud.
    ///
    /// - Parameters:
    ///   - type: The type of the models.
    ///   - user: The user whose database it is.
    ///   - zoneName: The zone's name; by default the type's record type, as for an engine.
    /// - Returns: The models, in the order of their record names; none if the zone does not exist.
    /// - Throws: `DecodingError` if a record cannot be decoded.
    public func models<Model: RecordCodable>(
        _ type: Model.Type = Model.self,
        user: String = FakeCloud.defaultUser,
        inZoneNamed zoneName: String? = nil
    ) throws -> [Model] {
        let zoneID = ZoneID(zoneName: zoneName ?? Model.recordType)
        return try records(user: user, in: zoneID).values
            .filter { $0.recordType == Model.recordType }
            .sorted { $0.recordID < $1.recordID }
            .map { try RecordDecoder().decode(Model.self, from: $0) }
    }

    /// Returns the server's copy of a record.
    ///
    /// - Parameters:
    ///   - id: The record's name and zone.
    ///   - user: The user whose database it is.
    /// - Returns: A copy of the record; `nil` if it does not exist.
    public func record(_ id: RecordID, user: String = FakeCloud.defaultUser) -> Record? {
        read { $0.record(id, of: user) }
    }

    /// Saves a record as another device of the user would that has the newest version.
    ///
    /// - Parameters:
    ///   - record: The record; fields that it does not contain stay as they are, and a null or an empty list
    ///     removes a field, as in a save by an engine.
    ///   - user: The user whose database it is.
    /// - Returns: The server's copy.
    /// - Throws: ``CloudError`` if the server refuses it, for instance because the zone is missing.
    @discardableResult
    public func put(_ record: Record, user: String = FakeCloud.defaultUser) throws -> Record {
        var record = record
        record.fields = record.fields.mapValues { $0.isNothing ? .null : $0 }
        record.systemFields = self.record(record.recordID, user: user)?.systemFields
        let operation = LedgerRequest.Operation.modifyRecords(
            saving: [record],
            deleting: [],
            savePolicy: .changedKeys,
            atomically: false
        )
        guard case .modifyRecords(let result) = try perform(operation, user: user),
            let saved = result.saveResults[record.recordID]
        else { throw CloudError(.internalError) }
        return try saved.get()
    }

    /// Deletes a record as another device of the user would.
    ///
    /// - Parameters:
    ///   - id: The record's name and zone.
    ///   - user: The user whose database it is.
    /// - Throws: ``CloudError`` if the server refuses it.
    public func remove(_ id: RecordID, user: String = FakeCloud.defaultUser) throws {
        let operation = LedgerRequest.Operation.modifyRecords(
            saving: [],
            deleting: [id],
            savePolicy: .ifServerRecordUnchanged,
            atomically: false
        )
        guard case .modifyRecords(let result) = try perform(operation, user: user) else { return }
        if case .some(.some(let error)) = result.deleteResults[id] { throw error }
    }

    /// Creates a zone as another device of the user would.
    ///
    /// - Parameters:
    ///   - zoneID: The zone; an existing zone stays as it is.
    ///   - user: The user whose database it is.
    /// - Throws: ``CloudError`` if the server refuses it.
    public func createZone(_ zoneID: ZoneID, user: String = FakeCloud.defaultUser) throws {
        let operation = LedgerRequest.Operation.modifyRecordZones(
            saving: [RecordZone(zoneID: zoneID)],
            deleting: []
        )
        guard case .modifyRecordZones(let result) = try perform(operation, user: user) else { return }
        if case .failure(let error)? = result.saveResults[zoneID] { throw error }
    }

    /// Deletes a zone with everything in it, as another device of the user would.
    ///
    /// - Parameters:
    ///   - zoneID: The zone.
    ///   - user: The user whose database it is.
    /// - Throws: ``CloudError``; `zoneNotFound` if it is not there.
    public func deleteZone(_ zoneID: ZoneID, user: String = FakeCloud.defaultUser) throws {
        let operation = LedgerRequest.Operation.modifyRecordZones(saving: [], deleting: [zoneID])
        guard case .modifyRecordZones(let result) = try perform(operation, user: user) else { return }
        if case .some(.some(let error)) = result.deleteResults[zoneID] { throw error }
    }

    /// Removes a zone as the user does in the system's settings; requests to it then fail with
    /// `userDeletedZone`.
    ///
    /// - Parameters:
    ///   - zoneID: The zone.
    ///   - user: The user whose database it is.
    /// - Throws: ``CloudError``; `zoneNotFound` if it is not there.
    public func purgeZone(_ zoneID: ZoneID, user: String = FakeCloud.defaultUser) throws {
        _ = try perform(.removeZone(zoneID, reason: .purged), user: user)
    }

    /// Makes a zone unreadable, as a reset of the user's keychain does.
    ///
    /// Requests to the zone fail with `zoneNotFound` and ``CloudError/userDidResetEncryptedData`` until a
    /// client has deleted the zone and created it again.
    ///
    /// - Parameters:
    ///   - zoneID: The zone.
    ///   - user: The user whose database it is.
    /// - Throws: ``CloudError``; `zoneNotFound` if it is not there.
    public func resetEncryptedData(in zoneID: ZoneID, user: String = FakeCloud.defaultUser) throws {
        _ = try perform(.removeZone(zoneID, reason: .encryptedDataReset), user: user)
    }

    /// Makes all change tokens that were issued so far unusable.
    ///
    /// - Parameters:
    ///   - zoneID: The zone; by default the whole database.
    ///   - user: The user whose database it is.
    /// - Throws: ``CloudError``; `zoneNotFound` if the zone does not exist.
    public func expireTokens(in zoneID: ZoneID? = nil, user: String = FakeCloud.defaultUser) throws {
        _ = try perform(.expireTokens(zoneID), user: user)
    }

    /// Sets how much the user may store; data that is already stored stays.
    ///
    /// - Parameters:
    ///   - bytes: The maximum size of field data in bytes; `nil` means no limit.
    ///   - user: The user.
    public func setQuota(_ bytes: Int?, user: String = FakeCloud.defaultUser) {
        _ = handle(.setQuota(bytes: bytes), user: user, from: nil)
    }

    /// Returns the size of the field data that a user has stored, in bytes.
    ///
    /// - Parameter user: The user.
    /// - Returns: The sum over all records.
    package func usedBytes(user: String = FakeCloud.defaultUser) -> Int {
        read { $0.usedBytes(of: user) }
    }

    /// Signs a user out on all of the user's devices.
    ///
    /// - Parameter user: The user.
    public func signOut(user: String = FakeCloud.defaultUser) {
        for device in devices(of: user) { device.signOut() }
    }
}
