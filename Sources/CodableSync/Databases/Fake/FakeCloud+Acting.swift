public import RecordCoding

// What others do: the user's other devices, the user in the system's settings, time.
extension FakeCloud {
    /// Everything in a zone, by record name.
    ///
    /// - Parameters:
    ///   - user: The user whose database it is.
    ///   - zoneID: The zone.
    /// - Returns: Copies of the records; none if the zone is not there.
    public func records(user: String = FakeCloud.defaultUser, in zoneID: ZoneID) -> [String: Record] {
        read { $0.records(in: zoneID, of: user) }
    }

    /// The models of one type that the cloud holds.
    ///
    /// - Parameters:
    ///   - type: The type of the models.
    ///   - user: The user whose database it is.
    ///   - zoneName: The zone's name; the type's record type, as for an engine, if left out.
    /// - Returns: The models, in the order of their record names; none if the zone is not there.
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

    /// One record as the server has it.
    ///
    /// - Parameters:
    ///   - id: The record's name and zone.
    ///   - user: The user whose database it is.
    /// - Returns: A copy of the record; `nil` if it is not there.
    public func record(_ id: RecordID, user: String = FakeCloud.defaultUser) -> Record? {
        read { $0.record(id, of: user) }
    }

    /// Saves a record as another device of the user would that knows the newest version.
    ///
    /// - Parameters:
    ///   - record: The record; fields that it does not mention stay as they are, a null removes one.
    ///   - user: The user whose database it is.
    /// - Returns: The server's copy.
    /// - Throws: ``CloudError`` if the server refuses it, for instance because the zone is missing.
    @discardableResult
    public func put(_ record: Record, user: String = FakeCloud.defaultUser) throws -> Record {
        var record = record
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

    /// Makes a zone as another device of the user would.
    ///
    /// - Parameters:
    ///   - zoneID: The zone; one that exists stays as it is.
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

    /// Removes a zone as the user does in the system's settings: from now on it answers `userDeletedZone`.
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
    /// It answers `zoneNotFound` with ``CloudError/userDidResetEncryptedData`` until a client has deleted it and
    /// made it anew.
    ///
    /// - Parameters:
    ///   - zoneID: The zone.
    ///   - user: The user whose database it is.
    /// - Throws: ``CloudError``; `zoneNotFound` if it is not there.
    public func resetEncryptedData(in zoneID: ZoneID, user: String = FakeCloud.defaultUser) throws {
        _ = try perform(.removeZone(zoneID, reason: .encryptedDataReset), user: user)
    }

    /// Makes all change tokens unusable that were given out until now.
    ///
    /// - Parameters:
    ///   - zoneID: The zone; the whole database if left out.
    ///   - user: The user whose database it is.
    /// - Throws: ``CloudError``; `zoneNotFound` if the zone is not there.
    public func expireTokens(in zoneID: ZoneID? = nil, user: String = FakeCloud.defaultUser) throws {
        _ = try perform(.expireTokens(zoneID), user: user)
    }

    /// Sets how much the user may store; what is stored already stays.
    ///
    /// - Parameters:
    ///   - bytes: Bytes of field data; `nil` is any number.
    ///   - user: The user.
    public func setQuota(_ bytes: Int?, user: String = FakeCloud.defaultUser) {
        _ = handle(.setQuota(bytes: bytes), user: user, from: nil)
    }

    /// The bytes of field data that a user has stored.
    ///
    /// - Parameter user: The user.
    /// - Returns: The sum over all records.
    public func usedBytes(user: String = FakeCloud.defaultUser) -> Int {
        read { $0.usedBytes(of: user) }
    }

    /// Signs a user out on all devices.
    ///
    /// - Parameter user: The user.
    public func signOut(user: String = FakeCloud.defaultUser) {
        for device in devices(of: user) { device.signOut() }
    }
}
