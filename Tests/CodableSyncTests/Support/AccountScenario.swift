import XCTest

@testable import CodableSync

/// Scenarios about devices whose account changes, on the fake; a subclass runs a few of them on the local database.
class AccountScenario: EngineScenario {
    /// The databases of the users, in the cloud that the scenarios use.
    func makeUsers() throws -> @Sendable (String) -> any CloudDatabase {
        let clock = clock
        let cloud = FakeCloud(clock: clock)
        return { cloud.database(user: $0) }
    }

    /// The same for a cloud in a directory.
    func makeUsersOnLocalDatabase() throws -> @Sendable (String) -> any CloudDatabase {
        let directory = try TemporaryDirectory()
        addTeardownBlock { try directory.remove() }
        let (url, clock) = (directory.url, clock)
        return { LocalDatabase(directory: url, user: $0, fileSystem: LocalFileSystem(), clock: clock) }
    }

    private(set) var connect: (@Sendable (String) -> any CloudDatabase)?

    override func setUpWithError() throws {
        try super.setUpWithError()
        connect = try makeUsers()
    }

    /// A device with a signed-in user, or without one.
    func makeAccountDevice<Model>(
        _ model: Model.Type = Model.self,
        user: String?,
        configure: (inout SyncConfiguration) -> Void = { _ in }
    ) throws -> AccountDevice<Model> {
        let account = AccountDatabase(user: user, connect: try XCTUnwrap(connect))
        return AccountDevice(account: account, device: Device(account, clock: clock, configure: configure))
    }

    /// A device on which alice is signed in and has synced two records.
    func makeDeviceOfAlice<Policy>(
        _ policy: Policy.Type = Merging.self,
        on files: any FileSystem = MemoryFileSystem(),
        configure: (inout SyncConfiguration) -> Void = { _ in }
    ) async throws -> AccountDevice<Item<Policy>> {
        let phone = try makeAccountDevice(Item<Policy>.self, user: "alice") {
            $0.fileSystem = files
            configure(&$0)
        }
        try await phone.engine.upload([Item("a-1", "of alice"), Item("a-2", "of alice")])
        try await phone.engine.sync()
        try await phone.engine.fetchChanges()
        return phone
    }

    /// The names of the records on a user's server.
    func names<Model>(of user: String, _ phone: AccountDevice<Model>) async throws -> [String] {
        let server = phone.account.server(of: user)
        do {
            let page = try await server.recordZoneChanges(
                inZoneWith: ZoneID(zoneName: "Item"),
                since: nil,
                desiredKeys: nil,
                resultsLimit: nil
            )
            return page.modifications.keys.map(\.recordName).sorted()
        } catch let error as CloudError where error.code == .zoneNotFound {
            return []
        }
    }

    /// Writes a record directly to a user's database.
    func put<Policy>(_ item: Item<Policy>, of user: String) async throws {
        let server = try XCTUnwrap(connect)(user)
        let zoneID = ZoneID(zoneName: "Item")
        _ = try await server.modifyRecordZones(saving: [RecordZone(zoneID: zoneID)], deleting: [])
        let record = Record(
            recordType: "Item",
            recordID: RecordID(recordName: item.id, zoneID: zoneID),
            fields: try RecordEncoder().encode(item).fields.withoutEmptyLists
        )
        let result = try await server.modifyRecords(
            saving: [record],
            deleting: [],
            savePolicy: .allKeys,
            atomically: false
        )
        _ = try result.saveResults[record.recordID]?.get()
    }
}

/// A device with its account.
struct AccountDevice<Model: RecordCodable & Equatable> {
    let account: AccountDatabase
    let device: Device<Model>

    var engine: SyncEngine<Model> { device.engine }

    /// The account changes that the app was told about, in order.
    var changes: [String] {
        device.events.all.compactMap {
            if case .accountChanged(let from, let to) = $0 { "\(from ?? "-") > \(to ?? "-")" } else { nil }
        }
    }

    func user() async throws -> String? { try await engine.diagnostics().userRecordName }

    func shown() async throws -> [String] { try await engine.allModels().map(\.recordName) }

    func pending() async throws -> [String] {
        try await engine.pendingChanges().map(\.recordName).sorted()
    }

    /// The names, texts, tags and tokens that a user's server received.
    func told(_ user: String) -> (
        names: Set<String>, texts: Set<String>, tags: Set<String>, tokens: Set<ChangeToken>
    ) {
        let told = account.told(user)
        return (
            Set(told.flatMap(\.names)),
            Set(
                told.flatMap { $0.fields.values }.compactMap {
                    if case .string(let text) = $0 { text } else { nil }
                }
            ),
            Set(told.flatMap(\.tags)), Set(told.compactMap(\.token))
        )
    }
}
