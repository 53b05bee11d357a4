import CloudKit
import CodableSync
import XCTest

/// The contract as it runs on a real container, with a fake behind the stand-in.
final class ContainerContractTests: ContainerContract {
    private let identifier = "iCloud.container.\(UUID().uuidString)"
    private let service = FakeCloudKit(FakeCloud().database(user: "alice"))

    override func container() throws -> String {
        StandIn.use(service, for: identifier)
        return identifier
    }

    func testWhatEarlierTestsHaveLeftIsDeleted() async throws {
        try await save(record("old"), to: makeDatabaseWithZones())
        let code = try await lookUp(id("old"), in: makeDatabaseWithZones()).code
        XCTAssertEqual(code, .unknownItem)
    }

    func testItIsSkippedUnlessAContainerIsNamed() throws {
        let variable = "CODABLESYNC_CLOUDKIT_CONTAINER"
        for environment in [[:], [variable: ""]] {
            XCTAssertThrowsError(try ContainerContract.container(in: environment)) {
                XCTAssertTrue($0 is XCTSkip, "\($0)")
            }
        }
        XCTAssertEqual(try ContainerContract.container(in: [variable: "iCloud.a"]), "iCloud.a")
    }
}
