import RecordCoding

extension LedgerDraft {
    func records(
        for ids: [RecordID],
        desiredKeys: [String]?
    ) throws(CloudError) -> [RecordID: Result<Record, CloudError>] {
        try checkCount(ids.count)
        var results: [RecordID: Result<Record, CloudError>] = [:]
        for id in ids {
            results[id] = Result { () throws(CloudError) in
                let stored = RecordID(recordName: id.recordName, zoneID: try usableZone(id.zoneID))
                guard let record = rows.row(stored)?.record else { throw CloudError(.unknownItem) }
                return naming(record.seen(as: id, desiredKeys))
            }
        }
        return results
    }

    /// The start of the history of a zone or of the database.
    private func start(_ kind: LedgerToken.Kind, of zone: ZoneID?, generation: Int64) -> LedgerToken {
        let names = zone.map { [$0.zoneName, $0.ownerName] } ?? []
        return LedgerToken(
            kind: kind,
            ledger: LedgerToken.mark([identifier]),
            mark: LedgerToken.mark([key.user.text, key.scope.rawValue] + names),
            generation: generation
        )
    }

    /// The change token of a position, with its witness and epoch.
    private func stamped(_ position: LedgerToken) -> ChangeToken {
        var position = position
        position.witness = head.epochs.witness(for: position.newestSequence, last: head.sequence)
        position.epoch = head.epochs.number(at: position.witness)
        return position.changeToken
    }

    func databaseChanges(
        since token: ChangeToken?,
        resultsLimit: Int?
    ) throws(CloudError) -> DatabaseChanges {
        var position = start(.database, of: nil, generation: head.generation)
        if let token { position = try usable(token, like: position, upTo: head.sequence) }
        let size = pageSize(resultsLimit)
        // One more shows whether there is another page.
        let news = rows.zones(changedAfter: position.sequence, limit: size + 1)
        let page = news.prefix(size)
        let beginning = position.sequence
        position.sequence = page.last?.lastSequence ?? position.sequence
        var changes = DatabaseChanges(
            modifications: [],
            deletions: [],
            changeToken: stamped(position),
            moreComing: page.count < news.count
        )
        for zone in page {
            let zoneID = zone.zoneID
            if let removal = zone.removal {
                changes.deletions.append(.init(zoneID: zoneID, reason: removal.reason))
                continue
            }
            // The zone was created again; a client that knew the former zone must learn why that was removed.
            if token != nil, let former = zone.former, former.sequence > beginning {
                changes.deletions.append(.init(zoneID: zoneID, reason: former.reason))
            }
            changes.modifications.append(zoneID)
        }
        return changes
    }

    func recordZoneChanges(
        in zoneID: ZoneID,
        since token: ChangeToken?,
        desiredKeys: [String]?,
        resultsLimit: Int?
    ) throws(CloudError) -> ZoneChanges {
        let stored = try usableZone(zoneID)
        guard stored != .default, let zone = rows.zone(stored) else {
            throw CloudError(.invalidArguments, message: "The default zone has no change feed.")
        }
        var position = start(.zone, of: stored, generation: zone.generation)
        if let token {
            position = try usable(token, like: position, upTo: max(zone.lastSequence, zone.generation))
        } else if !options.listsOldDeletions {
            position.listing = zone.lastSequence
        }
        var changes = ZoneChanges(
            modifications: [:],
            deletions: [],
            changeToken: stamped(position),
            moreComing: false
        )
        let size = pageSize(resultsLimit)
        let page = LedgerPage(
            zoneID: stored,
            after: position.sequence,
            omitsDeletionsUpTo: position.listing,
            limit: size + 1
        )
        for (recordName, row) in rows.page(page) {
            if changes.modifications.count + changes.deletions.count == size {
                changes.moreComing = true
                break
            }
            let id = RecordID(recordName: recordName, zoneID: zoneID)
            add(row, as: id, desiredKeys, to: &changes)
            position.sequence = row.sequence
        }
        if !changes.moreComing { position.sequence = max(zone.lastSequence, zone.generation) }
        if position.sequence >= position.listing { position.listing = 0 }
        changes.changeToken = stamped(position)
        return changes
    }

    private func add(
        _ row: LedgerZone.Row,
        as id: RecordID,
        _ desiredKeys: [String]?,
        to changes: inout ZoneChanges
    ) {
        switch row {
        case .record(let record, _):
            changes.modifications[id] = .success(naming(record.seen(as: id, desiredKeys)))
        case .deletion(let recordType, _):
            changes.deletions.append(.init(recordID: id, recordType: recordType))
        }
    }

    private func pageSize(_ resultsLimit: Int?) -> Int {
        let most = min(max(1, limits.database.maximumPageSize), .max - 1)
        guard let resultsLimit, resultsLimit > 0 else { return most }
        return min(most, resultsLimit)
    }

    /// Reads a token, which must belong to the same history as a position.
    private func usable(
        _ token: ChangeToken,
        like position: LedgerToken,
        upTo sequence: Int64
    ) throws(CloudError) -> LedgerToken {
        guard let read = LedgerToken(token) else { throw CloudError(.changeTokenExpired) }
        guard read.kind == position.kind else {
            let message = "A change token of a zone is not one of a database, nor the other way round."
            throw CloudError(.invalidArguments, message: message)
        }
        let origin = head.epochs.origin(of: read.epoch, at: read.witness, last: head.sequence)
        if read.ledger != position.ledger || origin == .anotherPast { throw CloudError.ofAnotherPast }
        // The tags cover saves by the client after it got the token.
        if token.knownChangeTags.contains(where: isOfAnotherPast) { throw CloudError.ofAnotherPast }
        guard origin == .thisPast, read.mark == position.mark, read.generation == position.generation,
            read.sequence <= sequence
        else { throw CloudError(.changeTokenExpired) }
        return read
    }
}

extension CloudError {
    /// The error for a tag or token from another history, which this ledger cannot have issued.
    ///
    /// Engines treat the error as a loss of the zone for an unknown reason, and so delete nothing.
    static var ofAnotherPast: CloudError {
        let message =
            "The zone is not the one that this device knows: the cloud was put back to an earlier copy, or begun anew."
        return CloudError(.zoneNotFound, message: message)
    }
}

extension Record {
    /// The record with the ID that a client used and the fields that it requested.
    fileprivate func seen(as id: RecordID, _ desiredKeys: [String]?) -> Record {
        var record = self
        record.recordID = id
        if let desiredKeys { record.fields = fields.filter { desiredKeys.contains($0.key) } }
        return record
    }
}
