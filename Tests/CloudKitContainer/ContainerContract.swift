#if canImport(CloudKit)
    import CodableSync
    import Foundation
    import XCTest

    /// The contract on a container of iCloud, in the private database of the user who is signed in.
    ///
    /// It is skipped unless the environment variable `CODABLESYNC_CLOUDKIT_CONTAINER` names the container. Each test
    /// deletes the contract's two zones first. `Documentation/CloudKit.md` says how to run it.
    class ContainerContract: CloudDatabaseContract {
        /// The container's identifier.
        func container() throws -> String {
            try Self.container(in: ProcessInfo.processInfo.environment)
        }

        static func container(in environment: [String: String]) throws -> String {
            let name = environment["CODABLESYNC_CLOUDKIT_CONTAINER"] ?? ""
            if name.isEmpty { throw XCTSkip("CODABLESYNC_CLOUDKIT_CONTAINER names no container.") }
            return name
        }

        override func makeDatabase() async throws -> any CloudDatabase {
            let database = try await makeSecondConnection()
            let result = try await database.modifyRecordZones(saving: [], deleting: [zoneID, otherZoneID])
            for case let error? in result.deleteResults.values where error.code != .zoneNotFound {
                throw error
            }
            return database
        }

        override func makeSecondConnection() async throws -> any CloudDatabase {
            CloudKitDatabase(containerIdentifier: try container())
        }

        // A class that declares no test of its own is not found on Linux.
        func testTheDatabaseIsTheUsersPrivateOne() async throws {
            let database = try await makeDatabase()
            XCTAssertEqual(try database.identifier, "\(try container())/private")
            let status = try await database.accountStatus()
            XCTAssertEqual(status, .available)
        }
    }
#endif
