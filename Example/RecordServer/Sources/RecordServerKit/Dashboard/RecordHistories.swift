@_spi(Server) import CodableSync
import Foundation

/// The versions of records that the server has seen since somebody looks, for the dashboard.
///
/// It reads the feeds of zones as a device does, so that versions between two reads are missing. It keeps 20 versions of a
/// record, and 100 000 versions or 32 MB in all. An actor, since changes and those who look meet here.
actor RecordHistories {
    private struct ZoneKey: Hashable {
        let user: String
        let zone: String
    }

    private struct Key: Hashable {
        let zone: ZoneKey
        let record: String
    }

    /// A version as the service writes it.
    private struct Version {
        let seen: String
        let json: Data
    }

    private static let maximumVersions = 20
    private static let maximumCount = 100_000
    private static let maximumBytes = 32 << 20
    private static let pageSize = 200

    private let storage: any LedgerStorage
    private let service: RecordService
    private var versions: [Key: [Version]] = [:]
    /// The records of the versions, in the order in which these were seen.
    private var order: [Key] = []
    private var firstInOrder = 0
    private var bytes = 0
    private var tokens: [ZoneKey: String] = [:]
    private var following: Task<Void, Never>?
    /// The last reading; one begins when those before have ended, so that no older page comes behind a newer one.
    private var reading: Task<Void, Never>?

    init(_ storage: any LedgerStorage, _ service: RecordService) {
        self.storage = storage
        self.service = service
    }

    deinit { following?.cancel() }

    /// Begins to read what changes, if it has not begun.
    func follow() {
        guard following == nil else { return }
        let changes = storage.changes
        following = Task { [weak self] in
            for await change in changes where change.scope == .private {
                await self?.read(ZoneKey(user: change.user, zone: change.zoneID.zoneName))
            }
        }
    }

    /// The versions of a record as a JSON object, the newest first.
    ///
    /// - Parameters:
    ///   - user: Whose record it is.
    ///   - zone: The name of its zone.
    ///   - record: Its name.
    /// - Returns: The object.
    func history(of user: String, _ zone: String, _ record: String) async -> Data {
        follow()
        let zone = ZoneKey(user: user, zone: zone)
        if tokens[zone] == nil { await read(zone) }
        let found = versions[Key(zone: zone, record: record)] ?? []
        var json = Data("{\"versions\":[".utf8)
        for (index, version) in found.reversed().enumerated() {
            json += Data("\(index > 0 ? "," : ""){\"seen\":\"\(version.seen)\",\"record\":".utf8)
            json += version.json + Data("}".utf8)
        }
        return json + Data("]}".utf8)
    }

    private func read(_ zone: ZoneKey) async {
        let task = Task { [reading] in
            await reading?.value
            await readPages(of: zone)
        }
        reading = task
        await task.value
    }

    private func readPages(of zone: ZoneKey) async {
        while let page = await page(of: zone) {
            for record in page.records { add(record, of: zone) }
            tokens[zone] = page.token
            if !page.moreComing { return }
        }
        // The next look begins again.
        tokens[zone] = nil
    }

    private struct Page {
        var records: [(name: String, json: Data)]
        var token: String
        var moreComing: Bool
    }

    /// The next page of a zone's feed; `nil` if it can't be read.
    private func page(of zone: ZoneKey) async -> Page? {
        var request: [String: Any] = ["zoneID": ["zoneName": zone.zone], "resultsLimit": Self.pageSize]
        if let token = tokens[zone] { request["syncToken"] = token }
        do {
            let body = try JSONSerialization.data(withJSONObject: ["zones": [request]])
            let call = RecordService.Request("changes/zone", Array(body), user: zone.user, scope: .private)
            let answer = try await service.answer(to: call, at: Date())
            let json = try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any]
            guard let found = (json?["zones"] as? [[String: Any]])?.first,
                let token = found["syncToken"] as? String
            else { return nil }
            let records = try (found["records"] as? [[String: Any]] ?? []).compactMap { record in
                try (record["recordName"] as? String).map { name in
                    (name, try JSONSerialization.data(withJSONObject: record, options: .sortedKeys))
                }
            }
            return Page(records: records, token: token, moreComing: found["moreComing"] as? Bool ?? false)
        } catch {
            return nil
        }
    }

    private func add(_ record: (name: String, json: Data), of zone: ZoneKey) {
        let key = Key(zone: zone, record: record.name)
        // A zone that is read from its beginning again has what is known already.
        if versions[key]?.last?.json == record.json { return }
        versions[key, default: []].append(
            Version(
                seen: Date().formatted(.iso8601.year().month().day().time(includingFractionalSeconds: true)),
                json: record.json
            )
        )
        order.append(key)
        bytes += record.json.count
        if let count = versions[key]?.count, count > Self.maximumVersions { forgetFirst(of: key) }
        while firstInOrder < order.count,
            bytes > Self.maximumBytes || order.count - firstInOrder > Self.maximumCount
        {
            forgetFirst(of: order[firstInOrder])
            firstInOrder += 1
        }
        if firstInOrder > 10_000, firstInOrder > order.count / 2 {
            order.removeFirst(firstInOrder)
            firstInOrder = 0
        }
    }

    private func forgetFirst(of key: Key) {
        guard let first = versions[key]?.first else { return }
        bytes -= first.json.count
        versions[key]?.removeFirst()
        if versions[key]?.isEmpty == true { versions[key] = nil }
    }
}
