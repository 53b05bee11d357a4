import RecordCoding

import struct Foundation.Date

/// Requests to the cloud, each in its own task, which does not keep the engine alive.
extension SyncCore {
    /// Performs a request, unless the user may have changed, and passes the result to the engine.
    func perform<Answer: Sendable>(
        _ id: RequestID,
        _ request: @escaping @Sendable (AccountConnection) async throws -> Answer,
        then take: @escaping @Sendable (isolated SyncCore, Result<Answer, CloudError>) -> Void
    ) {
        let connection = AccountConnection(base: database, generation: accountGeneration)
        let session = session
        let wait = RequestWait(clock: clock)
        let terms = RequestTerms(
            isAwaited: machine?.isAwaited == true,
            deadline: configuration.requestDeadline,
            noteWaiting: wait.note
        )
        resources.run(id, wait) { [weak self] in
            let result: Result<Answer, CloudError>
            do {
                result = .success(
                    try await RequestTerms.$current.withValue(terms) { try await request(connection) }
                )
            } catch is AccountConnection.AccountChanged {
                await self?.finish(session) { $0.process(.signal(.accountChanged)) }
                return
            } catch {
                result = .failure(CloudError(wrapping: error))
            }
            await self?.finish(session) { take($0, result) }
        }
    }

    /// Passes the result of a task to the engine, unless the task belongs to a former user's state.
    ///
    /// - Returns: Whether the result was passed on.
    @discardableResult
    func finish(_ session: Int, _ take: @Sendable (isolated SyncCore) -> Void) -> Bool {
        guard session == self.session else { return false }
        take(self)
        return true
    }

    // MARK: Account and zone

    func checkAccount(_ request: RequestID) {
        accountGeneration = database.accountGeneration
        perform(request) { connection -> CloudAccount in
            let status = try await connection.database.accountStatus()
            let user = status == .available ? try await connection.database.userRecordName() : nil
            return CloudAccount(status: status, userRecordName: user)
        } then: { core, result in
            core.process(.response(request, result.map { .account($0) }))
        }
    }

    func readDatabaseChanges(_ request: RequestID, since token: ChangeToken?) {
        let zoneID = zoneID
        let token = witnessed(token)
        perform(request) { connection in
            try await Self.readFeed(of: connection, since: token, about: zoneID)
        } then: { core, result in
            core.process(.response(request, result.map { .databaseChanges($0) }))
        }
    }

    /// Reads the database's feed to its end, up to 1000 pages.
    private static func readFeed(
        of connection: AccountConnection,
        since token: ChangeToken?,
        about zoneID: ZoneID
    ) async throws -> ZoneFate {
        var fate = ZoneFate(reason: nil, token: token)
        for _ in 0..<1000 {
            let page = try await connection.database.databaseChanges(since: fate.token, resultsLimit: nil)
            if !fate.take(page, about: zoneID) { break }
        }
        return fate
    }

    // MARK: Fetching

    /// A change token with the newest change tag that this device knows, and those of its saves since the last fetch.
    private func witnessed(_ token: ChangeToken?) -> ChangeToken? {
        var token = token
        token?.knownChangeTags = machine?.state.knownChangeTags ?? []
        return token
    }

    func fetch(_ request: RequestID, since token: ChangeToken?) {
        let zoneID = zoneID
        let limit = configuration.fetchPageSize
        let token = witnessed(token)
        perform(request) { connection in
            try await connection.database.recordZoneChanges(
                inZoneWith: zoneID,
                since: token,
                desiredKeys: nil,
                resultsLimit: limit
            )
        } then: { core, result in
            core.takeFetched(request, result)
        }
    }

    private func takeFetched(_ request: RequestID, _ result: Result<ZoneChanges, CloudError>) {
        let changes: ZoneChanges
        switch result {
        case .success(let found): changes = found
        case .failure(let error): return process(.response(request, .failure(error)))
        }
        var contents: [ContentHandle: Record] = [:]
        var page = FetchedPage(token: changes.changeToken, moreComing: changes.moreComing)
        let deleted = Set(changes.deletions.map(\.recordID))
        for (recordID, modification) in changes.modifications.sorted(by: { $0.key < $1.key }) {
            page.extendWait(to: modification.failure?.retryAfter)
            guard isUsable(recordID) else {
                page.ignored += 1
                continue
            }
            if deleted.contains(recordID) {
                // It was deleted after the change, or created again after the deletion; a look-up decides.
                page.failed.append(key(of: recordID))
                continue
            }
            switch modification {
            case .success(let record) where isOurs(record, named: recordID) && record.exceedsJournalLine:
                // A look-up parks the change to it, if there is one; the page goes on.
                page.failed.append(key(of: recordID))
            case .success(let record) where isOurs(record, named: recordID):
                let version = stage(record, in: &contents)
                page.records.append(found(version, of: record))
            case .success:
                page.ignored += 1
            case .failure:
                page.failed.append(key(of: recordID))
            }
        }
        for deletion in changes.deletions {
            let isOurs = deletion.recordType.isIdentical(to: model.recordType) || deletion.recordType.isEmpty
            guard isOurs, isUsable(deletion.recordID) else {
                page.ignored += 1
                continue
            }
            if changes.modifications[deletion.recordID] == nil {
                page.deletions.append(key(of: deletion.recordID))
            }
        }
        process(.response(request, .success(.page(page))), contents: contents)
    }

    /// The machine's key of a record in this engine's zone.
    private func key(of recordID: RecordID) -> RecordKey {
        RecordKey(zone: machine?.state.engineZone ?? .first, name: ExactName(recordID.recordName))
    }

    private func found(_ version: KnownVersion, of record: Record) -> FetchedRecord {
        FetchedRecord(
            key: key(of: record.recordID),
            recordType: ExactName(record.recordType),
            version: version,
            edited: record.editDate?.rounded
        )
    }

    /// Whether `upload` would accept the name.
    private func isUsable(_ recordID: RecordID) -> Bool {
        RecordLimits.allowsRecordName(recordID.recordName) && recordID.zoneID.isSameZone(as: zoneID)
    }

    func isOurs(_ record: Record, named recordID: RecordID) -> Bool {
        record.recordType.isIdentical(to: model.recordType)
            && record.recordID.recordName.isIdentical(to: recordID.recordName)
            && record.recordID.zoneID.isSameZone(as: zoneID)
    }

    /// Stages a server's record under a handle, and returns its version.
    func stage(
        _ record: Record,
        as reserved: ContentHandle? = nil,
        in contents: inout [ContentHandle: Record]
    ) -> KnownVersion {
        let handle = reserved ?? newHandle()
        contents[handle] = record
        if !record.unknownFields.isEmpty { report(record.unknownFields, of: record.recordID.recordName) }
        if reserved == nil {
            let staged = ReadVersion(name: record.recordID.recordName, handle: handle, reason: "")
            for call in Array(fetchedVersions.keys) { fetchedVersions[call]?.append(staged) }
        }
        return KnownVersion(
            changeTag: record.recordChangeTag ?? "",
            handle: handle,
            hash: record.contentHash,
            modified: record.systemFields?.modificationDate.flatMap(plausible),
            size: record.size,
            schema: record.schemaVersion.map { SchemaVersion($0) } ?? .first
        )
    }

    /// Reports fields with values of unknown kinds, each once.
    private func report(_ unknownFields: [String: String], of name: String) {
        for (field, kind) in unknownFields.sorted(by: { $0.key < $1.key })
        where reportedFields.insert(field).inserted {
            emit(.unknownValue(recordName: name, field: field, kind: kind))
        }
    }

    /// A server's date if it is plausible; other dates are not used for decisions.
    private func plausible(_ date: Date) -> Date? {
        // CloudKit was released in 2014. Up to a day in the future may be due to a wrong clock.
        let first = Date(timeIntervalSince1970: 1_388_534_400)
        return date > first && date < now.wall.addingTimeInterval(86_400) ? date.rounded : nil
    }

    func lookUp(_ request: RequestID, _ keys: [RecordKey]) {
        let ids = keys.map { RecordID(recordName: $0.recordName, zoneID: zoneID) }
        perform(request) { connection in
            try await connection.database.records(for: ids, desiredKeys: nil)
        } then: { core, result in
            var contents: [ContentHandle: Record] = [:]
            let found = result.map { results in
                CloudAnswer.records(zip(keys, ids).map { core.lookedUp($0, $1, in: results, &contents) })
            }
            core.process(.response(request, found), contents: contents)
        }
    }

    private func lookedUp(
        _ key: RecordKey,
        _ recordID: RecordID,
        in results: [RecordID: Result<Record, CloudError>],
        _ contents: inout [ContentHandle: Record]
    ) -> LookedUp {
        switch results[recordID] {
        case .success(let record)? where !isOurs(record, named: recordID):
            let message =
                "The cloud has a record of the type \(record.recordType.quoted) under this name. "
                + "It is not overwritten."
            return LookedUp(
                key: key,
                result: .failure(CloudError(.invalidArguments, message: message))
            )
        case .success(let record)? where record.exceedsJournalLine:
            return LookedUp(key: key, result: .failure(.tooLarge(record)))
        case .success(let record)?:
            return LookedUp(key: key, result: .success(found(stage(record, in: &contents), of: record)))
        case .failure(let error)? where error.recovery == .acceptDeletion:
            return LookedUp(key: key, result: .success(nil))
        case .failure(let error)?:
            return LookedUp(key: key, result: .failure(error))
        case nil:
            return LookedUp(key: key, result: .failure(.unmentioned("the record")))
        }
    }
}

extension Result {
    var failure: Failure? {
        if case .failure(let error) = self { return error }
        return nil
    }
}

extension CloudError {
    /// Creates an error from whatever a database throws; other types of errors become unknown errors.
    init(wrapping error: any Error) {
        if let error = error as? CloudError {
            self = error
        } else if error is CancellationError {
            self.init(.operationCancelled)
        } else {
            self.init(.unknown("\(type(of: error))"), message: "\(error)".abbreviated(to: 400))
        }
    }

    static func unmentioned(_ what: String) -> CloudError {
        CloudError(.serverResponseLost, message: "The response doesn't mention \(what).")
    }
}
