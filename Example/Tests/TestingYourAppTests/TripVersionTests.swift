import CodableSync
import Foundation
import XCTest

/// Two versions of a model on one cloud; the article "Changing your models" shows these tests.
// begin devices
final class TripVersionTests: XCTestCase {
    let clock = ManualClock()
    lazy var cloud = FakeCloud(clock: clock)

    /// Another device of the user, which runs the version of the app that has this model.
    func device<Model: RecordCodable>(_ model: Model.Type) -> SyncEngine<Model> {
        var configuration = SyncConfiguration()
        configuration.clock = clock
        configuration.automaticallySyncs = false
        configuration.sendDelay = .zero
        return SyncEngine(database: cloud.database(), configuration: configuration)
    }

    /// What the server has of the trip "a".
    func fields() throws -> [String: RecordValue] {
        try XCTUnwrap(cloud.records(in: ZoneID(zoneName: "Trip"))["a"]).fields
    }
    // end devices

    // begin optional
    func testAnOlderVersionKeepsAnOptionalThatItDoesNotKnow() async throws {
        let (old, new) = (device(Trip.self), device(NotedTrip.self))
        try await old.upload(Trip(id: "a", title: "Fjords"))
        try await old.sync()
        try await new.sync()
        let added = try await new.model(named: "a")
        XCTAssertEqual(added, NotedTrip(id: "a", title: "Fjords", note: nil))

        // Both edit the trip before either of them syncs.
        try await new.edit(named: "a") { $0.note = "By train" }
        try await old.edit(named: "a") { $0.title = "Norway" }
        try await new.sync()
        try await old.sync()
        try await new.sync()
        let (onOld, onNew) = (try await old.model(named: "a"), try await new.model(named: "a"))
        XCTAssertEqual(onOld, Trip(id: "a", title: "Norway"))
        XCTAssertEqual(onNew, NotedTrip(id: "a", title: "Norway", note: "By train"))
    }
    // end optional

    // begin default
    func testADefaultIsShownSentWithAnEditAndNoEditItself() async throws {
        let (old, new, other) = (device(Trip.self), device(RatedTrip.self), device(RatedTrip.self))
        try await old.upload(Trip(id: "a", title: "Fjords"))
        try await old.sync()
        try await new.sync()
        try await other.sync()
        let shown = try await new.model(named: "a")
        XCTAssertEqual(shown?.rating, 3)
        XCTAssertNil(try fields()["rating"])

        // The later edit has the default, and it does not win over the other device's value.
        try await other.edit(named: "a") { $0.rating = 5 }
        try await other.sync()
        clock.advance(by: .seconds(60))
        try await new.edit(named: "a") { $0.title = "Norway" }
        try await new.sync()
        let merged = try await new.model(named: "a")
        XCTAssertEqual(merged, RatedTrip(id: "a", title: "Norway", rating: 5))

        // The edit of a record without the field sends the default.
        try await old.upload(Trip(id: "b", title: "Lakes"))
        try await old.sync()
        try await new.sync()
        try await new.edit(named: "b") { $0.title = "Finland" }
        try await new.sync()
        let records = cloud.records(in: ZoneID(zoneName: "Trip"))
        XCTAssertEqual(records["b"]?.fields["rating"], 3)
    }
    // end default

    // begin case
    func testAnOlderVersionKeepsACaseThatItDoesNotKnow() async throws {
        let (old, new) = (device(SortedTrip.self), device(SailingTrip.self))
        try await new.upload(SailingTrip(id: "a", title: "Fjords", kind: .sail))
        try await new.sync()
        try await old.sync()
        let shown = try await old.model(named: "a")
        XCTAssertEqual(shown?.kind, .other)

        try await old.edit(named: "a") { $0.title = "Norway" }
        try await old.sync()
        try await new.sync()
        let trip = try await new.model(named: "a")
        XCTAssertEqual(trip, SailingTrip(id: "a", title: "Norway", kind: .sail))
    }
    // end case

    // begin rename
    func testARenamedPropertyKeepsItsField() async throws {
        let (old, new) = (device(Trip.self), device(NamedTrip.self))
        try await old.upload(Trip(id: "a", title: "Fjords"))
        try await old.sync()
        try await new.sync()
        try await new.edit(named: "a") { $0.name += " and lakes" }
        try await new.sync()
        try await old.sync()
        let trip = try await old.model(named: "a")
        XCTAssertEqual(trip?.title, "Fjords and lakes")
    }
    // end rename

    // begin rename-struct
    func testARenamedStructKeepsItsRecords() async throws {
        let (old, new) = (device(Trip.self), device(Journey.self))
        try await old.upload(Trip(id: "a", title: "Fjords"))
        try await old.sync()
        try await new.sync()
        let journey = try await new.model(named: "a")
        XCTAssertEqual(journey, Journey(id: "a", title: "Fjords"))
    }
    // end rename-struct

    // begin remove
    func testAVersionWithoutAPropertyKeepsItsField() async throws {
        let (old, new) = (device(NotedTrip.self), device(Trip.self))
        try await old.upload(NotedTrip(id: "a", title: "Fjords", note: "By train"))
        try await old.sync()
        try await new.sync()
        try await new.edit(named: "a") { $0.title = "Norway" }
        try await new.sync()
        XCTAssertEqual(try fields()["note"], "By train")
        try await old.sync()
        let trip = try await old.model(named: "a")
        XCTAssertEqual(trip, NotedTrip(id: "a", title: "Norway", note: "By train"))
    }
    // end remove

    // begin retype
    func testANewTypeNeedsANewKey() async throws {
        let (old, new) = (device(PricedTrip.self), device(ExactTrip.self))
        try await old.upload(PricedTrip(id: "a", title: "Fjords", price: 120))
        try await old.sync()
        try await new.sync()
        try await new.edit(named: "a") { $0.cost = 120.4 }
        try await new.sync()
        try await old.sync()
        let rounded = try await old.model(named: "a")
        XCTAssertEqual(rounded?.price, 120)

        try await old.edit(named: "a") { $0.price = 90 }
        try await old.sync()
        try await new.sync()
        let trip = try await new.model(named: "a")
        XCTAssertEqual(trip?.cost, 90)

        // Under the same key, the cloud refuses the edit, which is parked with the cloud's message.
        let wrong = device(MispricedTrip.self)
        try await wrong.upload(MispricedTrip(id: "b", title: "Lakes", price: 0.5))
        try await wrong.sync()
        let reason = try await wrong.pendingChanges().first?.parkReason
        XCTAssertEqual(reason?.kind, .refused)
        XCTAssertTrue(reason?.message.contains("Use another field name") == true)
    }
    // end retype

    // begin require
    func testAnOptionalBecomesRequiredAndOptionalAgain() async throws {
        let (optional, required) = (device(NotedTrip.self), device(DescribedTrip.self))
        try await optional.upload(NotedTrip(id: "a", title: "Fjords", note: "By train"))
        try await optional.sync()
        try await required.sync()
        let set = try await required.model(named: "a")
        XCTAssertEqual(set?.note, "By train")

        // To the cloud, a cleared field is one that was never set.
        try await optional.edit(named: "a") { $0.note = nil }
        try await optional.sync()
        try await required.sync()
        let cleared = try await required.model(named: "a")
        XCTAssertEqual(cleared?.note, "")
        try await required.edit(named: "a") { $0.title = "Norway" }
        try await required.sync()
        try await optional.sync()
        let trip = try await optional.model(named: "a")
        XCTAssertEqual(trip, NotedTrip(id: "a", title: "Norway", note: ""))
    }
    // end require

    // begin nest
    func testAnOlderVersionKeepsAPartOfANestedValueUnlessItEditsThatValue() async throws {
        let (old, new) = (device(PlacedTrip.self), device(StreetTrip.self))
        try await old.upload(PlacedTrip(id: "a", title: "Fjords", place: .init(city: "Oslo")))
        try await old.sync()
        try await new.sync()
        try await new.edit(named: "a") { $0.place.street = "Karl Johans gate" }
        try await new.sync()
        try await old.sync()

        try await old.edit(named: "a") { $0.title = "Norway" }
        try await old.sync()
        try await new.sync()
        let kept = try await new.model(named: "a")
        XCTAssertEqual(kept?.title, "Norway")
        XCTAssertEqual(kept?.place, .init(city: "Oslo", street: "Karl Johans gate"))

        try await old.edit(named: "a") { $0.place.city = "Bergen" }
        try await old.sync()
        try await new.sync()
        let replaced = try await new.model(named: "a")
        XCTAssertEqual(replaced?.place, .init(city: "Bergen", street: nil))
    }
    // end nest

    // begin wrap
    func testAWrapperAndATypedIDAreCodedAsTheirValues() async throws {
        let (old, wrapped, typed) = (device(Trip.self), device(TrimmedTrip.self), device(IdentifiedTrip.self))
        try await old.upload(Trip(id: "a", title: "Fjords"))
        try await old.sync()
        try await wrapped.sync()
        try await wrapped.edit(named: "a") { $0.title = " Norway " }
        try await wrapped.sync()
        XCTAssertEqual(try fields()["title"], "Norway")
        XCTAssertEqual(try fields()["id"], "a")

        try await typed.sync()
        try await typed.edit(named: "a") { $0.title += " by sea" }
        try await typed.sync()
        try await old.sync()
        let trip = try await old.model(named: "a")
        XCTAssertEqual(trip, Trip(id: "a", title: "Norway by sea"))
    }
    // end wrap

    // begin measure
    func testAStructThatBecomesOneValueNeedsANewKey() async throws {
        let (planned, measured) = (device(PlannedTrip.self), device(MeasuredTrip.self))
        let trip = PlannedTrip(id: "a", title: "Fjords", distance: .init(kilometres: 12))
        try await planned.upload(trip)
        try await planned.sync()
        XCTAssertEqual(try fields()["distance"], .bytes(Data(#"{"kilometres":12}"#.utf8)))
        try await measured.sync()
        let shown = try await measured.model(named: "a")
        XCTAssertNil(shown)

        let other = MeasuredTrip(id: "b", title: "Lakes", distance: .init(kilometres: 30))
        try await measured.upload(other)
        try await measured.sync()
        let reason = try await measured.pendingChanges().first?.parkReason
        XCTAssertEqual(reason?.kind, .refused)
        XCTAssertTrue(reason?.message.contains("Use another field name") == true)
    }
    // end measure

    // begin raise
    func testAnOlderVersionDoesNotChangeARecordOfANewerSchema() async throws {
        let (old, new) = (device(Trip.self), device(CapitalTrip.self))
        try await old.upload(Trip(id: "a", title: "Fjords"))
        try await old.sync()
        try await new.sync()
        try await new.edit(named: "a") { $0.title = "NORWAY" }
        try await new.sync()
        try await old.sync()
        let shown = try await old.model(named: "a")
        XCTAssertEqual(shown, Trip(id: "a", title: "Fjords"))
        do {
            try await old.edit(named: "a") { $0.title = "Norway" }
            XCTFail("The edit should be refused.")
        } catch let error as SyncError {
            XCTAssertEqual(error.code, .recordUndecodable)
        }
        try await old.upload(Trip(id: "a", title: "Norway"))
        try await old.sync()
        let parked = try await old.pendingChanges().first?.parkReason
        XCTAssertEqual(parked?.kind, .serverValueUndecodable)
        XCTAssertEqual(try fields()["title"], "NORWAY")
    }
}
// end raise
