import Foundation
import RecordCoding

extension Work {
    /// Eight fields of each kind.
    static func fieldKinds() throws -> [Work] {
        let place = RecordLocation(latitude: 35.360_638, longitude: 138.727_363)
        let short = "Start before three in the morning."
        return try kind("String", Strings(short))
            + kind("nil", OptionalStrings(nil))
            + kind("optional-String", OptionalStrings(short))
            + kind("UUID", UUIDs(Sample.id()))
            + kind("URL", URLs(Sample.url("https://example.com/landmarks/fuji")))
            + kind("enum-of-String", StringEnums(.nature))
            + kind("enum-of-Int", IntEnums(.normal))
            + kind("Bool", Bools(true))
            + kind("Int", Ints(1_234_567))
            + kind("UInt16", SmallInts(12_345))
            + kind("Double", Doubles(3776.24))
            + kind("Date", Dates(Date(timeIntervalSince1970: 1_371_859_200.125)))
            + kind("Data", Bytes(Data(repeating: 0xA5, count: 64)))
            + kind("list-of-String", StringLists(["mountain", "volcano", "snow", "sunrise", "pilgrimage"]))
            + kind("list-of-Double", DoubleLists([1.5, 2.25, 3.125, 4.0625, 5.03125]))
            + kind("RecordReference", References(RecordReference(recordName: "fuji")))
            + kind("RecordLocation", Locations(place))
            + kind("nested-struct", NestedValues(.init(latitude: 35.360_638, longitude: 138.727_363)))
            + kind("dictionary", Dictionaries(["north": 3, "south": 5, "west": 8]))
    }

    private static func kind<Model: EightFields>(_ kind: String, _ model: Model) throws -> [Work] {
        let subject = "kind:\(kind)"
        let encoder = RecordEncoder()
        let decoder = RecordDecoder()
        let json = JSONEncoder()
        let jsonDecoder = JSONDecoder()
        let recordID = RecordID(recordName: "eight")
        let record = try encoder.encode(model, recordType: "Eight", recordID: recordID)
        let text = try json.encode(model)
        return [
            Work(subject, "encode", by: .codableSync) {
                try encoder.encode(model, recordType: "Eight", recordID: recordID)
            },
            Work(subject, "encode", by: .json) { try json.encode(model) },
            Work(subject, "decode", by: .codableSync) { try decoder.decode(Model.self, from: record) },
            Work(subject, "decode", by: .json) { try jsonDecoder.decode(Model.self, from: text) },
        ]
    }
}
