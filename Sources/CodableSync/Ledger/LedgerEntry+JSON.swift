@_spi(Reasons) import RecordCoding

import struct Foundation.Date

// One object for each entry. The member after the user names the change:
// {"user":"alice","saved":{…},"sequence":12}
// {"user":"alice","deleted":"A1","zone":"Note","type":"Note","sequence":13}
@_spi(Server) extension LedgerEntry {
    /// Writes the entry as one line of JSON, the same bytes for the same entry.
    ///
    /// - Returns: UTF-8 without spaces and line breaks.
    public func encode() -> [UInt8] {
        var writer = JSONWriter(reserving: 512)
        append(to: &writer)
        return writer.bytes
    }

    /// Reads what ``encode()`` wrote.
    ///
    /// - Parameter json: The JSON, with nothing after it but white space.
    /// - Throws: `RecordCodingError.malformedJSON(field:reason:)` with the position in its reason.
    public init(json: some Sequence<UInt8>) throws {
        do {
            var reader = JSONReader(Array(json))
            self = try LedgerEntry.read(from: &reader)
            try reader.end()
        } catch let error as JSONError {
            throw RecordCodingError.malformedJSON(field: "", reason: error.description)
        }
    }

    /// Writes the entry as the writer's next value.
    ///
    /// - Parameter writer: The writer.
    package func append(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.optionalMember("user", user)
        if scope != .private { writer.optionalMember("scope", scope.rawValue) }
        switch change {
        case .recordSaved(let record, let sequence):
            writer.key("saved")
            RecordJSON.append(record, to: &writer)
            writer.optionalMember("sequence", sequence)
        case .recordDeleted(let name, let zone, let recordType, let sequence):
            writer.optionalMember("deleted", name)
            writer.optionalMember("zone", zone.zoneName)
            writer.ownerMember(of: zone)
            writer.optionalMember("type", recordType)
            writer.optionalMember("sequence", sequence)
        case .zoneCreated(let zone, let sequence):
            writer.optionalMember("zoneCreated", zone.zoneName)
            writer.ownerMember(of: zone)
            writer.optionalMember("sequence", sequence)
        case .zoneRemoved(let zone, let reason, let canBeRecreated, let sequence):
            writer.optionalMember("zoneRemoved", zone.zoneName)
            writer.ownerMember(of: zone)
            writer.optionalMember("reason", reason.rawValue)
            writer.key("canBeMadeAnew")
            writer.bool(canBeRecreated)
            writer.optionalMember("sequence", sequence)
        case .subscriptionSaved(let subscription):
            writer.optionalMember("subscriptionSaved", subscription.subscriptionID)
            if case .zone(let zoneID) = subscription.kind {
                writer.optionalMember("zone", zoneID.zoneName)
                writer.ownerMember(of: zoneID)
            }
        case .subscriptionDeleted(let id):
            writer.optionalMember("subscriptionDeleted", id)
        case .tokensExpired(let zone, let sequence):
            writer.optionalMember("tokensExpired", zone?.zoneName)
            if let zone { writer.ownerMember(of: zone) }
            writer.optionalMember("sequence", sequence)
        case .quotaChanged(let bytes):
            writer.optionalMember("quota", bytes.map(Int64.init))
        case .fieldTypesFixed(let recordType, let types):
            writer.optionalMember("fieldTypes", recordType)
            writer.key("types")
            writer.beginObject()
            for (field, type) in types.sorted(by: { $0.key.precedes($1.key) }) {
                writer.optionalMember(field, type.description)
            }
            writer.endObject()
        case .epochBegan(let number, let sequence):
            writer.optionalMember("epoch", String(number, radix: 36))
            writer.optionalMember("sequence", sequence)
        case .countersAdvanced(let sequence, let modificationDate):
            writer.optionalMember("counters", sequence)
            writer.optionalMember("date", modificationDate?.milliseconds)
        }
        writer.endObject()
    }

    /// Reads an entry as the reader's next value.
    ///
    /// - Parameter reader: The reader.
    /// - Returns: The entry.
    /// - Throws: ``JSONError`` with the position, also for unknown, missing or repeated members.
    package static func read(from reader: inout JSONReader) throws -> LedgerEntry {
        let start = reader.offset
        var members = Members()
        try reader.beginObject()
        while let key = try reader.nextKey() { try members.read(key, from: &reader) }
        guard let user = members.user, let change = members.change() else {
            throw JSONError(
                offset: start,
                reason: "an entry needs a user and what happened, with all its members"
            )
        }
        return LedgerEntry(user: user, scope: members.scope ?? .private, change: change)
    }

    /// The members of an entry that were read.
    private struct Members {
        var user: String?
        var scope: DatabaseScope?
        /// The member that names the change, and its value.
        var kind: String?
        var name: String?
        var record: Record?
        var number: Int64?
        var epoch: UInt64?
        var zone: String?
        var owner: String?
        var type: String?
        var reason: DatabaseChanges.Deletion.Reason?
        var canBeRecreated: Bool?
        var sequence: Int64?
        var date: Int64?
        var types: [String: LedgerFieldType]?
        private var keys: Set<String> = []

        mutating func read(_ key: String, from reader: inout JSONReader) throws {
            guard keys.insert(key).inserted else { throw reader.failure("a key is there twice") }
            switch key {
            case "user": user = try reader.string()
            case "scope":
                scope = DatabaseScope(rawValue: try reader.string())
                if scope == nil { throw reader.failure("the scope is not known") }
            case "zone": zone = try reader.string()
            case "owner": owner = try reader.string()
            case "type": type = try reader.string()
            case "reason":
                reason = DatabaseChanges.Deletion.Reason(rawValue: try reader.string())
                if reason == nil { throw reader.failure("the reason is not known") }
            case "canBeMadeAnew": canBeRecreated = try reader.bool()
            case "sequence": sequence = try readSequence(from: &reader)
            case "types": types = try readTypes(from: &reader)
            case "date": date = try reader.isNull() ? nil : RecordJSON.nearestStorable(reader.int())
            default: try readKind(key, from: &reader)
            }
        }

        private func readTypes(from reader: inout JSONReader) throws -> [String: LedgerFieldType] {
            var types: [String: LedgerFieldType] = [:]
            try reader.beginObject()
            while let field = try reader.nextKey() {
                guard let type = LedgerFieldType(try reader.string()) else {
                    throw reader.failure("the type of a field is not known")
                }
                guard types.updateValue(type, forKey: field) == nil else {
                    throw reader.failure("a field is there twice")
                }
            }
            return types
        }

        private mutating func readKind(_ key: String, from reader: inout JSONReader) throws {
            guard kind == nil else { throw reader.failure("an entry says one thing") }
            kind = key
            switch key {
            case "saved": record = try RecordJSON.read(from: &reader)
            case "deleted", "zoneCreated", "zoneRemoved", "subscriptionSaved", "subscriptionDeleted",
                "fieldTypes":
                name = try reader.string()
            case "tokensExpired": name = try reader.isNull() ? nil : reader.string()
            case "quota": number = try reader.isNull() ? nil : reader.int()
            case "counters": number = try readSequence(from: &reader)
            case "epoch":
                epoch = UInt64(try reader.string(), radix: 36)
                if epoch == nil { throw reader.failure("the epoch is no number") }
            default: throw reader.failure("the entry is of a kind that is not known")
            }
        }

        private func readSequence(from reader: inout JSONReader) throws -> Int64 {
            let sequence = try reader.int()
            guard 0...LedgerEntry.maximumSequence ~= sequence else {
                throw reader.failure("a sequence is beyond its limits")
            }
            return sequence
        }

        private func zoneID(_ name: String) -> ZoneID {
            ZoneID(zoneName: name, ownerName: owner ?? ZoneID.currentUserOwnerName)
        }

        /// The change; `nil` if a member is missing.
        func change() -> Change? {
            switch (kind, name, sequence) {
            case ("saved", _, let sequence?):
                return record.map { .recordSaved($0, sequence: sequence) }
            case ("deleted", let name?, let sequence?):
                guard let zone, let type else { return nil }
                return .recordDeleted(
                    recordName: name,
                    zone: zoneID(zone),
                    recordType: type,
                    sequence: sequence
                )
            case ("zoneCreated", let name?, let sequence?):
                return .zoneCreated(zoneID(name), sequence: sequence)
            case ("zoneRemoved", let name?, let sequence?):
                guard let reason, let canBeRecreated else { return nil }
                return .zoneRemoved(
                    zoneID(name),
                    reason: reason,
                    canBeRecreated: canBeRecreated,
                    sequence: sequence
                )
            case ("subscriptionSaved", let name?, _):
                guard let zone else {
                    return .subscriptionSaved(CloudSubscription(subscriptionID: name, kind: .database))
                }
                return .subscriptionSaved(CloudSubscription(subscriptionID: name, kind: .zone(zoneID(zone))))
            case ("subscriptionDeleted", let name?, _):
                return .subscriptionDeleted(name)
            case ("tokensExpired", let name, let sequence?):
                return .tokensExpired(zone: name.map(zoneID), sequence: sequence)
            case ("fieldTypes", let name?, _):
                return types.map { .fieldTypesFixed(recordType: name, $0) }
            case ("quota", _, _):
                return .quotaChanged(bytes: number.map(Int.init(clamping:)))
            case ("epoch", _, let sequence?):
                return epoch.map { .epochBegan($0, sequence: sequence) }
            case ("counters", _, _):
                return number.map {
                    .countersAdvanced(sequence: $0, modificationDate: date.map(Date.init(milliseconds:)))
                }
            default:
                return nil
            }
        }
    }
}

extension JSONReader {
    fileprivate func failure(_ reason: String) -> JSONError { JSONError(offset: offset, reason: reason) }
}

extension JSONWriter {
    /// Writes the owner of a zone, unless the user of the database owns it.
    fileprivate mutating func ownerMember(of zoneID: ZoneID) {
        if zoneID.ownerName != ZoneID.currentUserOwnerName { optionalMember("owner", zoneID.ownerName) }
    }

    fileprivate mutating func optionalMember(_ name: String, _ value: String?) {
        key(name)
        if let value { string(value) } else { null() }
    }

    fileprivate mutating func optionalMember(_ name: String, _ value: Int64?) {
        key(name)
        if let value { int(value) } else { null() }
    }
}
