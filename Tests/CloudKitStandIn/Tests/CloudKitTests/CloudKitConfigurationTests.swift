import CloudKit
import CodableSync
import Foundation
import Security
import XCTest

/// An app without access to its container gets a clear error, and CloudKit is not asked what would end the process.
final class CloudKitConfigurationTests: XCTestCase {
    private var configuration: SyncConfiguration {
        var configuration = SyncConfiguration()
        configuration.storage = .inMemory
        configuration.automaticallySyncs = false
        return configuration
    }

    private func error(of call: () async throws -> Void) async -> SyncError? {
        do {
            try await call()
        } catch let error as SyncError {
            return error
        } catch {
            XCTFail("\(error)")
        }
        return nil
    }

    func testTheDefaultContainerIsMadeWhenItIsFirstUsed() async throws {
        let container = StandIn.defaultContainer
        StandIn.use(FakeCloudKit(FakeCloud().database(user: "alice")), for: container)
        let before = StandIn.containerCount(container)
        let database = CloudKitDatabase.$bundleIdentifier.withValue("com.example.app") { CloudKitDatabase() }
        XCTAssertEqual(StandIn.containerCount(container), before)
        XCTAssertEqual(database.identifier, "\(container)/private")
        let status = try await database.accountStatus()
        XCTAssertEqual(status, .available)
        XCTAssertEqual(StandIn.containerCount(container), before + 1)
    }

    func testNoContainerIsMadeBeforeTheFirstRequestAndOneForAll() async throws {
        let container = "iCloud.test.lazy"
        StandIn.use(FakeCloudKit(FakeCloud().database(user: "alice")), for: container)
        let database = CloudKitDatabase(containerIdentifier: container)
        let engine = SyncEngine<Memo>(database: database, configuration: configuration)
        _ = engine.changes
        _ = (database.scope, database.limits, database.signals, database.accountGeneration)
        XCTAssertNil(database.notification(from: [:]))
        try database.checkConfiguration()
        XCTAssertEqual(StandIn.containerCount(container), 0)

        try await engine.upload(Memo(id: "a", title: ""))
        _ = try await engine.sync()
        _ = try await database.userRecordName()
        XCTAssertEqual(StandIn.containerCount(container), 1)
        try await engine.close()
    }

    func testAProcessWithoutABundleIdentifierHasNoDefaultContainer() async throws {
        let engine = CloudKitDatabase.$bundleIdentifier.withValue(nil) {
            SyncEngine<Memo>(configuration: configuration)
        }
        for call in [{ try await engine.upload(Memo(id: "a", title: "")) }, { _ = try await engine.sync() }] {
            let error = await error(of: call)
            XCTAssertEqual(error?.code, .configuration)
            XCTAssertEqual(error?.cloudError?.code, .badContainer)
            XCTAssertTrue(error?.message.contains("no bundle identifier") == true, error?.message ?? "-")
        }
        let database = CloudKitDatabase.$bundleIdentifier.withValue(nil) { CloudKitDatabase() }
        do {
            _ = try await database.recordZones(for: [.default])
            XCTFail("there is no container")
        } catch let error as CloudError {
            XCTAssertEqual(error.code, .badContainer)
        }
        XCTAssertEqual(database.identifier, "none/private")
    }

    // MARK: Entitlements

    private let services = "com.apple.developer.icloud-services"
    private let containers = "com.apple.developer.icloud-container-identifiers"

    /// The error of an engine's first call, and of a request without an engine, with these entitlements.
    private func errors(
        _ entitlements: [String: any Sendable]?,
        container: String? = nil
    ) async throws -> (engine: SyncError?, request: CloudError?) {
        StandIn.use(FakeCloudKit(FakeCloud().database(user: "alice")), for: StandIn.defaultContainer)
        StandIn.use(FakeCloudKit(FakeCloud().database(user: "alice")), for: "iCloud.test.entitled")
        return try await StandInEntitlements.with(entitlements) {
            try await CloudKitDatabase.$bundleIdentifier.withValue("com.example.app") {
                let engine = SyncEngine<Memo>(
                    database: .cloudKit(containerIdentifier: container),
                    configuration: configuration
                )
                let ofEngine = await error { try await engine.upload(Memo(id: "a", title: "")) }
                try await engine.close()
                let database = CloudKitDatabase(containerIdentifier: container)
                do {
                    _ = try await database.accountStatus()
                } catch let error as CloudError {
                    XCTAssertEqual(database.identifier, "none/private")
                    return (ofEngine, error)
                }
                return (ofEngine, nil)
            }
        }
    }

    func testAMacAppThatWasSignedWithoutCloudKitGetsAConfigurationErrorAndNoTrap() async throws {
        let missing: [[String: any Sendable]] = [
            [:], [containers: ["iCloud.test.entitled"]], [services: ["CloudDocuments"]],
            [services: "CloudKit"],
        ]
        for entitlements in missing {
            for container in [nil, "iCloud.test.entitled"] {
                let errors = try await errors(entitlements, container: container)
                XCTAssertEqual(errors.engine?.code, .configuration)
                XCTAssertEqual(errors.engine?.cloudError?.code, .missingEntitlement)
                XCTAssertTrue(
                    errors.engine?.message.contains(services) == true,
                    errors.engine?.message ?? "-"
                )
                XCTAssertEqual(errors.request?.code, .missingEntitlement)
            }
        }
    }

    func testAMacAppWithoutAContainerHasNoDefaultOne() async throws {
        for names in [nil, []] as [[String]?] {
            var entitlements: [String: any Sendable] = [services: ["CloudKit"]]
            entitlements[containers] = names
            let ofDefault = try await errors(entitlements)
            XCTAssertEqual(ofDefault.engine?.code, .configuration)
            XCTAssertEqual(ofDefault.engine?.cloudError?.code, .badContainer)
            XCTAssertTrue(
                ofDefault.engine?.message.contains(containers) == true,
                ofDefault.engine?.message ?? "-"
            )
            XCTAssertEqual(ofDefault.request?.code, .badContainer)
            // Whether the app may use a container that it names, only a request shows.
            let named = try await errors(entitlements, container: "iCloud.test.entitled")
            XCTAssertNil(named.engine)
            XCTAssertNil(named.request)
        }
    }

    func testEntitlementsThatCannotBeReadStopNothing() async throws {
        for entitlements in [nil, [services: ["CloudKit"], containers: ["iCloud.a"]]] as [[String: [String]]?]
        {
            let errors = try await errors(entitlements)
            XCTAssertNil(errors.engine)
            XCTAssertNil(errors.request)
        }
    }

    func testAForwardingDatabaseIsCheckedToo() async {
        let database = CloudKitDatabase(containerIdentifier: "")
        let engine = SyncEngine<Memo>(
            database: ForwardingDatabase(database),
            configuration: configuration
        )
        let error = await error { try await engine.upload(Memo(id: "a", title: "")) }
        XCTAssertEqual(error?.code, .configuration)
    }

    func testTheConfigurationNamesTheContainerOfAnEngineWithoutADatabase() async throws {
        let service = FakeCloudKit(FakeCloud().database(user: "alice"))
        StandIn.use(service, for: "iCloud.test.named")
        var configuration = configuration
        configuration.containerIdentifier = "iCloud.test.named"
        let engine = SyncEngine<Memo>(configuration: configuration)
        try await engine.upload(Memo(id: "a", title: "there"))
        _ = try await engine.sync()
        XCTAssertEqual(try service.device.cloud.models(Memo.self, user: "alice").map(\.title), ["there"])
        try await engine.close()
    }

    func testANamedContainerNeedsNoBundleIdentifier() async throws {
        let service = FakeCloudKit(FakeCloud().database(user: "alice"))
        let database = CloudKitDatabase.$bundleIdentifier.withValue(nil) { service.database() }
        let status = try await database.accountStatus()
        XCTAssertEqual(status, .available)
    }

    func testAMissingEntitlementIsAConfigurationErrorAndLosesNothing() async throws {
        for code in [CKError.Code.missingEntitlement, .badContainer] {
            let service = FakeCloudKit(FakeCloud().database(user: "alice"))
            let message = [NSLocalizedDescriptionKey: "CloudKit's words"]
            service.fault.with { $0 = CKError(code, userInfo: message) }
            let engine = SyncEngine<Memo>(database: service.database(), configuration: configuration)
            try await engine.upload(Memo(id: "a", title: "kept"))
            let error = await error { _ = try await engine.sync() }
            XCTAssertEqual(error?.code, .configuration)
            XCTAssertEqual(
                error?.cloudError?.code,
                code == .badContainer ? .badContainer : .missingEntitlement
            )
            XCTAssertTrue(error?.message.contains("CloudKit's words") == true, error?.message ?? "-")
            XCTAssertTrue(error?.message.contains("add the capability iCloud") == true, error?.message ?? "-")

            // Once the app is signed correctly, the edit is sent.
            service.fault.with { $0 = nil }
            _ = try await engine.sync()
            XCTAssertEqual(try service.device.cloud.models(Memo.self, user: "alice").map(\.title), ["kept"])
            try await engine.close()
        }
    }

    func testAMacAppsDevelopmentBuildHasAnotherIdentifierThanItsProductionBuild() async {
        let container = "iCloud.test.environments"
        StandIn.use(FakeCloudKit(FakeCloud().database(user: "alice")), for: container)
        let key = "com.apple.developer.icloud-container-environment"
        let signed: [String: any Sendable] = [services: ["CloudKit"], containers: [container]]
        func identifier(_ entitlements: [String: any Sendable]?) async -> String {
            await StandInEntitlements.with(entitlements) {
                CloudKitDatabase(containerIdentifier: container).identifier
            }
        }
        let production = await identifier(signed.merging([key: "Production"]) { $1 })
        XCTAssertEqual(production, "\(container)/private")
        let development = await identifier(signed.merging([key: "Development"]) { $1 })
        XCTAssertEqual(development, "\(container)/private/development")
        let fromXcode = await identifier(signed)
        XCTAssertEqual(fromXcode, development)
        // As on iOS, which tells an app nothing about its signature.
        let unknown = await identifier(nil)
        XCTAssertEqual(unknown, production)
    }

    func testAProductionBuildOnAMacDoesNotOpenTheStateOfADevelopmentBuild() async throws {
        let directory = try TemporaryDirectory()
        let container = "iCloud.test.builds"
        StandIn.use(FakeCloudKit(FakeCloud().database(user: "alice")), for: container)
        var configuration = configuration
        configuration.storage = .directory(directory.url)
        let key = "com.apple.developer.icloud-container-environment"
        var codes: [SyncError.Code?] = []
        for environment in ["Development", "Production", "Development"] {
            let entitlements: [String: any Sendable] = [services: ["CloudKit"], key: environment]
            try await StandInEntitlements.with(entitlements) {
                let database = CloudKitDatabase(containerIdentifier: container)
                let engine = SyncEngine<Memo>(database: database, configuration: configuration)
                codes.append(await error { try await engine.upload(Memo(id: "a", title: "")) }?.code)
                try await engine.close()
            }
        }
        XCTAssertEqual(codes, [nil, .configuration, nil])
        try directory.remove()
    }

    func testAnEngineSyncsOnlyThePrivateDatabase() async {
        let service = FakeCloudKit(FakeCloud().database(user: "alice"))
        for scope in [DatabaseScope.public, .shared] {
            let engine = SyncEngine<Memo>(
                database: service.database(scope: scope),
                configuration: configuration
            )
            let error = await error { try await engine.upload(Memo(id: "a", title: "")) }
            XCTAssertEqual(error?.code, .configuration)
            XCTAssertTrue(error?.message.contains("the \(scope.rawValue) database") == true, "\(scope)")
        }
    }
}
