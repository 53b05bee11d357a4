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
        writer.beginObject()
        writer.optionalMember("user", user)
        if scope != .private { writer.optionalMember("scope", scope.rawValue) }
        switch change {
        case .recordSaved(let record):
            writer.key("saved")
            RecordJSON.append(record, to: &writer)
        case .recordDeleted(let name, let zone, let recordType):
            writer.optionalMember("deleted", name)
            writer.zoneMember("zone", zone)
            writer.optionalMember("type", recordType)
        case .zoneCreated(let zone):
            writer.zoneMember("zoneCreated", zone)
        case .zoneRemoved(let zone, let reason, let canBeRecreated):
            writer.zoneMember("zoneRemoved", zone)
            writer.optionalMember("reason", reason.rawValue)
            writer.key("canBeMadeAnew")
            writer.bool(canBeRecreated)
        case .subscriptionSaved(let subscription):
            writer.optionalMember("subscriptionSaved", subscription.subscriptionID)
            if case .zone(let zoneID) = subscription.kind { writer.zoneMember("zone", zoneID) }
        case .subscriptionDeleted(let id):
            writer.optionalMember("subscriptionDeleted", id)
        case .tokensExpired(let zone):
            writer.zoneMember("tokensExpired", zone)
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
        if let sequence { writer.optionalMember("sequence", sequence) }
        writer.endObject()
        return writer.bytes
    }

    /// Reads what ``encode()`` wrote, with the members in the same order.
    ///
    /// - Parameter json: The JSON, with nothing after it but white space.
    /// - Throws: `RecordCodingError.malformedJSON(field:reason:)` with the position in its reason, also for unknown,
    ///   missing or repeated members.
    public init(json: some Sequence<UInt8>) throws {
        do {
            var members = try LedgerEntryMembers(of: JSONReader(Array(json)))
            user = try members.string("user")
            scope = .private
            if members.key == "scope" {
                scope = try members.named(
                    "scope",
                    else: "the scope is not known",
                    DatabaseScope.init(rawValue:)
                )
            }
            change = try members.change()
            sequence = change.hasPosition ? try members.sequence("sequence") : nil
            try members.end()
        } catch let error as JSONError {
            throw RecordCodingError.malformedJSON(field: "", reason: error.description)
        }
    }
}

/// The members of an entry, which are read in the order in which they are written.
private struct LedgerEntryMembers {
    private var reader: JSONReader
    /// The name of the next member; `nil` after the last one.
    private(set) var key: String?

    init(of reader: JSONReader) throws {
        self.reader = reader
        try self.reader.beginObject()
        key = try self.reader.nextKey()
    }

    mutating func end() throws {
        guard key == nil else { throw reader.failure("an entry says one thing") }
        try reader.end()
    }

    /// Reads the next member, which must have this name.
    private mutating func read<Value>(
        _ name: String,
        _ value: (inout JSONReader) throws -> Value
    ) throws -> Value {
        guard key == name else {
            throw reader.failure("an entry needs a user and what happened, with all its members")
        }
        let value = try value(&reader)
        key = try reader.nextKey()
        return value
    }

    private mutating func optional<Value>(
        _ name: String,
        _ value: (inout JSONReader) throws -> Value
    ) throws -> Value? {
        try read(name) { try $0.isNull() ? nil : value(&$0) }
    }

    mutating func string(_ name: String) throws -> String { try read(name) { try $0.string() } }

    /// Reads a text that stands for a value.
    mutating func named<Value>(
        _ name: String,
        else reason: String,
        _ value: (String) -> Value?
    ) throws -> Value {
        try read(name) { reader in
            guard let value = value(try reader.string()) else { throw reader.failure(reason) }
            return value
        }
    }

    mutating func sequence(_ name: String) throws -> Int64 {
        try read(name) { reader in
            let sequence = try reader.int()
            guard 0...LedgerEntry.maximumSequence ~= sequence else {
                throw reader.failure("a sequence is beyond its limits")
            }
            return sequence
        }
    }

    private mutating func zone(_ name: String) throws -> ZoneID { try owned(string(name)) }

    /// Reads the owner of a zone, unless that is the user of the database.
    private mutating func owned(_ zoneName: String) throws -> ZoneID {
        let owner = key == "owner" ? try string("owner") : ZoneID.currentUserOwnerName
        return ZoneID(zoneName: zoneName, ownerName: owner)
    }

    private mutating func types() throws -> [String: LedgerFieldType] {
        try read("types") { reader in
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
    }

    mutating func change() throws -> LedgerEntry.Change {
        switch key {
        case "saved": return .recordSaved(try read("saved", RecordJSON.read))
        case "deleted":
            return .recordDeleted(
                recordName: try string("deleted"),
                zone: try zone("zone"),
                recordType: try string("type")
            )
        case "zoneCreated": return .zoneCreated(try zone("zoneCreated"))
        case "zoneRemoved":
            return .zoneRemoved(
                try zone("zoneRemoved"),
                reason: try named(
                    "reason",
                    else: "the reason is not known",
                    DatabaseChanges.Deletion.Reason.init(rawValue:)
                ),
                canBeRecreated: try read("canBeMadeAnew") { try $0.bool() }
            )
        case "subscriptionSaved":
            let id = try string("subscriptionSaved")
            let kind = key == "zone" ? CloudSubscription.Kind.zone(try zone("zone")) : .database
            return .subscriptionSaved(CloudSubscription(subscriptionID: id, kind: kind))
        case "subscriptionDeleted": return .subscriptionDeleted(try string("subscriptionDeleted"))
        case "tokensExpired":
            let name = try optional("tokensExpired") { try $0.string() }
            return .tokensExpired(zone: try name.map { try owned($0) })
        case "quota":
            return .quotaChanged(bytes: try optional("quota") { Int(clamping: try $0.int()) })
        case "fieldTypes":
            return .fieldTypesFixed(recordType: try string("fieldTypes"), try types())
        case "epoch":
            let number = try named("epoch", else: "the epoch is no number") { UInt64($0, radix: 36) }
            return .epochBegan(number, sequence: try sequence("sequence"))
        case "counters":
            let sequence = try sequence("counters")
            let date = try optional("date") { RecordJSON.nearestStorable(try $0.int()) }
            return .countersAdvanced(sequence: sequence, modificationDate: date.map(Date.init(milliseconds:)))
        default: throw reader.failure("the entry is of a kind that is not known")
        }
    }
}

extension JSONReader {
    fileprivate func failure(_ reason: String) -> JSONError { JSONError(offset: offset, reason: reason) }
}

extension JSONWriter {
    /// Writes a zone, and its owner unless that is the user of the database.
    fileprivate mutating func zoneMember(_ name: String, _ zoneID: ZoneID?) {
        optionalMember(name, zoneID?.zoneName)
        guard let owner = zoneID?.ownerName, owner != ZoneID.currentUserOwnerName else { return }
        optionalMember("owner", owner)
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
