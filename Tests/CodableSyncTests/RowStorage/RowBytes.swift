import Foundation

@_spi(Server) @testable import CodableSync

/// Bytes under string keys, and nothing else: the keys of all rows of all databases are ASCII, in their order.
struct RowBytes: Sendable {
    private(set) var values: [String: [UInt8]] = [:]
    private var keys: [String] = []
    /// How many values were read and keys were passed in scans.
    private(set) var reads = 0

    var count: Int { keys.count }

    mutating func read(_ key: String) -> [UInt8]? {
        reads += 1
        return values[key]
    }

    mutating func write(_ bytes: [UInt8]?, at key: String) {
        let index = index(of: key)
        if values.updateValue([], forKey: key) == nil { keys.insert(key, at: index) }
        values[key] = bytes
        if bytes == nil { keys.remove(at: index) }
    }

    /// The keys with a prefix, from a key on that need not exist, until `body` returns `false`.
    mutating func scan(
        _ prefix: String,
        from start: String? = nil,
        _ body: (inout Self, String) throws -> Bool
    ) rethrows {
        var index = index(of: start ?? prefix)
        while index < keys.count, keys[index].hasPrefix(prefix) {
            reads += 1
            guard try body(&self, keys[index]) else { return }
            index += 1
        }
    }

    mutating func remove(_ prefix: String) {
        let range = index(of: prefix)..<keys.count
        let removed = keys[range].prefix { $0.hasPrefix(prefix) }
        for key in removed { values[key] = nil }
        keys.removeSubrange(removed.indices)
    }

    private func index(of key: String) -> Int {
        var (low, high) = (0, keys.count)
        while low < high {
            let middle = (low + high) / 2
            if keys[middle] < key { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

// MARK: - The rows of a database

/// The keys and values of one database.
///
/// An entry is stored as the line that it is in a journal.
struct ByteDatabase {
    private let prefix: String

    init(user: String, scope: DatabaseScope) { prefix = "database/\(Self.hex(user)).\(scope.rawValue)/" }

    private static func hex(_ text: String) -> String {
        text.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private static func digits(_ sequence: Int64) -> String {
        let text = String(sequence, radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
    }

    private static func name(_ zoneID: ZoneID) -> String {
        hex(zoneID.zoneName) + "." + hex(zoneID.ownerName)
    }

    private var headKey: String { prefix + "head" }

    /// Where the heads of zones are.
    private var zones: String { prefix + "zone/" }

    /// Where the names of zones are, by the sequences of their newest changes.
    private var changedZones: String { prefix + "changed/" }

    private var subscriptions: String { prefix + "subscription/" }

    /// Where all is that belongs to a zone beside its head.
    private func inside(_ zoneID: ZoneID) -> String { prefix + "in/\(Self.name(zoneID))/" }

    private func record(_ id: RecordID) -> String { inside(id.zoneID) + "record/\(Self.hex(id.recordName))" }

    /// Where the names of records are, by the sequences of their newest changes.
    private func feed(_ zoneID: ZoneID) -> String { inside(zoneID) + "feed/" }

    private func holders(of id: RecordID) -> String {
        inside(id.zoneID) + "holder/\(Self.hex(id.recordName))/"
    }

    private func children(of id: RecordID) -> String {
        inside(id.zoneID) + "children/\(Self.hex(id.recordName))"
    }

    private func subscription(_ name: LedgerKey.Name) -> String { subscriptions + Self.hex(name.text) }

    private func fieldTypes(_ recordType: LedgerKey.Name) -> String { "types/" + Self.hex(recordType.text) }

    // MARK: Reading

    func value(of key: LedgerKey, in rows: inout RowBytes) throws -> LedgerValue {
        switch key {
        case .head:
            return .head(
                try rows.read(headKey).map { try JSONDecoder().decode(LedgerHead.self, from: Data($0)) }
                    ?? LedgerHead()
            )
        case .zone(let zoneID):
            return .zones(try [zone(zones + Self.name(zoneID), in: &rows)].compactMap { $0 })
        case .zones:
            var heads: [LedgerZoneHead] = []
            try rows.scan(zones) { rows, key in
                if let zone = try zone(key, in: &rows), !zone.isRemoved { heads.append(zone) }
                return true
            }
            return .zones(heads)
        case .zonesChanged(let after, let limit):
            var heads: [LedgerZoneHead] = []
            try rows.scan(changedZones, from: changedZones + Self.digits(after + 1)) { rows, key in
                let name = String(decoding: rows.read(key) ?? [], as: UTF8.self)
                if let zone = try zone(zones + name, in: &rows) { heads.append(zone) }
                return heads.count < limit
            }
            return .zones(heads)
        case .record(let id): return .entries(try entries([record(id)], in: &rows))
        case .page(let page): return .entries(try entries(of: page, in: &rows))
        case .holders(let id):
            var names: [String] = []
            let prefix = holders(of: id)
            rows.scan(prefix) { rows, key in
                names.append(String(decoding: rows.read(key) ?? [], as: UTF8.self))
                return true
            }
            return .names(names)
        case .childCount(let id): return .count(childCount(of: id, in: &rows))
        case .subscription(let name): return .entries(try entries([subscription(name)], in: &rows))
        case .subscriptions:
            var keys: [String] = []
            rows.scan(subscriptions) { _, key in
                keys.append(key)
                return true
            }
            return .entries(try entries(keys, in: &rows))
        case .fieldTypes(let recordType): return .entries(try entries([fieldTypes(recordType)], in: &rows))
        }
    }

    private func zone(_ key: String, in rows: inout RowBytes) throws -> LedgerZoneHead? {
        try rows.read(key).map { try JSONDecoder().decode(LedgerZoneHead.self, from: Data($0)) }
    }

    private func entries(_ keys: [String], in rows: inout RowBytes) throws -> [LedgerEntry] {
        try keys.compactMap { try rows.read($0).map { try LedgerEntry(json: $0) } }
    }

    private func entries(of page: LedgerPage, in rows: inout RowBytes) throws -> [LedgerEntry] {
        let feed = feed(page.zoneID)
        let oldest = feed + Self.digits(page.omitsDeletionsUpTo + 1)
        var keys: [String] = []
        rows.scan(feed, from: feed + Self.digits(page.after + 1)) { rows, key in
            // A deletion has a mark, so that its row need not be read to leave it out.
            let name = String(decoding: rows.read(key) ?? [], as: UTF8.self)
            if name.hasPrefix("!"), key < oldest { return true }
            keys.append(inside(page.zoneID) + "record/" + name.drop { $0 == "!" })
            return keys.count < page.limit
        }
        return try entries(keys, in: &rows)
    }

    private func childCount(of id: RecordID, in rows: inout RowBytes) -> Int {
        rows.read(children(of: id)).flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0
    }

    // MARK: Writing

    func write(_ update: LedgerUpdate, in rows: inout RowBytes) throws {
        switch update {
        case .head(let head): rows.write(Array(try JSONEncoder().encode(head)), at: headKey)
        case .zone(let zone, let old):
            let name = Self.name(zone.zoneID)
            rows.write(Array(try JSONEncoder().encode(zone)), at: zones + name)
            guard zone.zoneID != .default else { return }
            if let old { rows.write(nil, at: changedZones + Self.digits(old.lastSequence)) }
            rows.write(Array(name.utf8), at: changedZones + Self.digits(zone.lastSequence))
        case .zoneEmptied(let zoneID): rows.remove(inside(zoneID))
        case .deletionsDropped(let zoneID):
            let feed = feed(zoneID)
            var dropped: [String] = []
            rows.scan(feed) { rows, key in
                let name = String(decoding: rows.read(key) ?? [], as: UTF8.self)
                if name.hasPrefix("!") { dropped += [key, inside(zoneID) + "record/" + name.dropFirst()] }
                return true
            }
            for key in dropped { rows.write(nil, at: key) }
        case .record(let id, let entry, let old):
            var name = Self.hex(id.recordName)
            if case .recordDeleted = entry.change { name = "!" + name }
            if let sequence = old?.sequence { rows.write(nil, at: feed(id.zoneID) + Self.digits(sequence)) }
            if let sequence = entry.sequence {
                rows.write(Array(name.utf8), at: feed(id.zoneID) + Self.digits(sequence))
            }
            rows.write(entry.encode(), at: record(id))
        case .holderAdded(let holder, let target):
            rows.write(Array(holder.recordName.utf8), at: key(of: holder, in: target))
        case .holderRemoved(let holder, let target): rows.write(nil, at: key(of: holder, in: target))
        case .childCountChanged(let parent, let difference):
            let count = childCount(of: parent, in: &rows) + difference
            rows.write(count == 0 ? nil : Array("\(count)".utf8), at: children(of: parent))
        case .subscription(let name, let entry): rows.write(entry?.encode(), at: subscription(name))
        case .fieldTypes(let recordType, let entry): rows.write(entry.encode(), at: fieldTypes(recordType))
        }
    }

    private func key(of holder: RecordID, in target: String) -> String {
        holders(of: RecordID(recordName: target, zoneID: holder.zoneID)) + Self.hex(holder.recordName)
    }
}
