import CloudKit
import CoreLocation
import Foundation
import RecordCoding
import XCTest

@_spi(Server) @testable import CodableSync

/// Values and names at the edge of what CloudKit has.
final class CloudKitValueTests: AdapterTestCase {
    private func native(_ fill: (CKRecord) -> Void) -> Record {
        let zone = CKRecordZone.ID(zoneName: "Note")
        let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "a", zoneID: zone))
        fill(record)
        return CloudKitReader().record(record, in: zoneID)
    }

    // MARK: Names

    func testANameHas255ASCIICharactersAtMost() async throws {
        let long = String(repeating: "n", count: 255)
        let saved = try await save(record(long))
        XCTAssertEqual(saved.recordID.recordName, long)
        let field = try await save(record("a", [long: "value"]))
        XCTAssertEqual(field.fields, [long: "value"])
        // The second has 255 characters in UTF-16 and 510 bytes; the third is the other way round too long.
        for name in [long + "n", String(repeating: "é", count: 255), String(repeating: "𝄞", count: 127)] {
            let ofRecord = try await failure(of: record(name))
            XCTAssertEqual(ofRecord?.code, .invalidArguments, name)
            let ofField = try await failure(of: record("b", [name: "value"]))
            XCTAssertEqual(ofField?.code, .invalidArguments, name)
            let zone = RecordZone(zoneID: ZoneID(zoneName: name))
            let ofZone = try await database.modifyRecordZones(saving: [zone], deleting: [])
            XCTAssertEqual(ofZone.saveResults[zone.zoneID]?.failure?.code, .invalidArguments, name)
            let found = try await database.records(for: [id(name)], desiredKeys: nil)
            XCTAssertEqual(found[id(name)]?.failure?.code, .invalidArguments, name)
        }
    }

    func testTheLongestZoneNameHasASubscription() async throws {
        let zone = RecordZone(zoneID: ZoneID(zoneName: String(repeating: "z", count: 255)))
        _ = try await database.modifyRecordZones(saving: [zone], deleting: [])
        let subscription = CloudSubscription.engine(for: zone.zoneID)
        let result = try await database.modifySubscriptions(saving: [subscription], deleting: [])
        XCTAssertEqual(try result.saveResults[subscription.subscriptionID]?.get(), subscription)
    }

    // MARK: Values to send

    func testAReferenceToItselfIsSaved() async throws {
        for action in [RecordReference.Action.none, .deleteSelf] {
            let own = RecordValue.reference(RecordReference(recordName: "a", action: action))
            let saved = try await save(record("a-\(action)", ["own": own]))
            XCTAssertEqual(saved.fields, ["own": own])
        }
    }

    func testNumbersAndDatesThatCloudKitCannotStoreAreRefused() async throws {
        let place = RecordLocation(latitude: .nan, longitude: 0)
        let values: [RecordValue] = [
            .double(.nan), .double(.infinity), .date(Date(timeIntervalSince1970: .nan)),
            .date(Date(timeIntervalSince1970: 1e300)), .date(Date(timeIntervalSince1970: -1e12)),
            .location(place), .list([1, "two"]), .list([.list([1])]), .list([.null]),
        ]
        for value in values {
            let error = try await failure(of: record("a", ["value": value]))
            XCTAssertEqual(error?.code, .invalidArguments, "\(value)")
        }
    }

    func testEdgesOfNumbersDatesAndPlacesAreKept() async throws {
        let values: [RecordValue] = [
            .double(.greatestFiniteMagnitude), .double(.leastNonzeroMagnitude), .double(-0.0), .int64(.min),
            .int64(.max), .date(.distantPast), .date(.distantFuture), .string(""), .bytes(Data()), .list([]),
            .location(RecordLocation(latitude: 500, longitude: -1e9)),
        ]
        // CloudKit refuses an empty list in a field that has no type yet.
        device.cloud.options.refusesEmptyListsOfNewFields = false
        for (index, value) in values.enumerated() {
            let saved = try await save(record("edge-\(index)", ["value\(index)": value]))
            XCTAssertEqual(saved.fields, ["value\(index)": value])
        }
    }

    // MARK: Values from CloudKit

    func testNumbersFromTheServerThatNoClientCouldSendAreReadAsTheyAre() throws {
        let read = native { record in
            record["nan"] = NSNumber(value: Double.nan)
            record["infinite"] = NSNumber(value: -Double.infinity)
            record["date"] = NSDate(timeIntervalSinceReferenceDate: 1e300)
            record["place"] = CLLocation(
                coordinate: CLLocationCoordinate2D(latitude: .nan, longitude: .infinity),
                altitude: .nan,
                horizontalAccuracy: .nan,
                verticalAccuracy: -.infinity,
                course: .nan,
                speed: .nan,
                timestamp: Date(timeIntervalSinceReferenceDate: .nan)
            )
            record["empty"] = NSArray()
        }
        guard case .double(let number)? = read.fields["nan"] else { return XCTFail("\(read)") }
        XCTAssertTrue(number.isNaN)
        XCTAssertEqual(read.fields["infinite"], .double(-.infinity))
        XCTAssertEqual(read.fields["empty"], .list([]))
        XCTAssertNotNil(read.fields["place"])
        XCTAssertNotNil(read.fields["date"])
    }

    /// Such a record is stored, reported as undecodable or shown, and never ends the app.
    func testSuchARecordEndsNoEngine() async throws {
        let device = service.device
        let engine = SyncEngine<Memo>(
            database: service.database(),
            configuration: {
                var configuration = SyncConfiguration()
                configuration.storage = .inMemory
                configuration.automaticallySyncs = false
                return configuration
            }()
        )
        let other = SyncEngine<Memo>(
            database: device.cloud.database(user: "alice"),
            configuration: {
                var configuration = SyncConfiguration()
                configuration.storage = .inMemory
                configuration.automaticallySyncs = false
                return configuration
            }()
        )
        try await other.upload(Memo(id: "a", title: "one"))
        _ = try await other.sync()
        service.changeRecord.with {
            $0 = { record in
                record["count"] = NSNumber(value: Double.nan)
                record["far"] = NSDate(timeIntervalSinceReferenceDate: 1e300)
                record["place"] = CLLocation(
                    coordinate: CLLocationCoordinate2D(latitude: .nan, longitude: .infinity),
                    altitude: .nan,
                    horizontalAccuracy: .nan,
                    verticalAccuracy: .nan,
                    course: .nan,
                    speed: .nan,
                    timestamp: Date(timeIntervalSinceReferenceDate: .nan)
                )
            }
        }
        let summary = try await engine.sync()
        XCTAssertEqual(summary.undecodable, 1)
        let presence = try await engine.presence(named: "a")
        guard case .undecodable = presence else { return XCTFail("\(presence)") }
        service.changeRecord.with { $0 = nil }
        try await engine.resync()
        _ = try await engine.sync()
        try await engine.close()
        try await other.close()
    }
}
