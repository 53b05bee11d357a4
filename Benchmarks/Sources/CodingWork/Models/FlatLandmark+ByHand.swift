import Foundation
import RecordCoding

extension FlatLandmark: WrittenByHand {
    /// The record that the coder makes.
    package var recordByHand: Record {
        let name = id.textByHand
        var fields = [String: RecordValue](minimumCapacity: 13)
        fields["id"] = .string(name)
        fields["name"] = .string(self.name)
        fields["country"] = .string(country)
        fields["category"] = .string(category.rawValue)
        fields["isFavorite"] = .int64(isFavorite ? 1 : 0)
        fields["visits"] = .int64(Int64(visits))
        fields["elevation"] = .double(elevation)
        fields["rating"] = .double(rating)
        fields["opened"] = .date(opened)
        fields["website"] = .string(website.absoluteString)
        fields["tags"] = .list(tags.map { .string($0) })
        fields["note"] = note.map { .string($0) } ?? .null
        fields["coordinate"] = .bytes(coordinate.jsonByHand)
        return Record(recordType: "FlatLandmark", recordID: RecordID(recordName: name), fields: fields)
    }

    /// Reads the fields of a record.
    ///
    /// - Parameter record: The record.
    /// - Throws: If a field is missing or of another kind.
    package init(byHand record: Record) throws {
        let fields = FieldsByHand(fields: record.fields)
        id = try fields.unwrap(UUID(textByHand: fields.string("id")), "id")
        name = try fields.string("name")
        country = try fields.string("country")
        category = try fields.unwrap(Category(rawValue: fields.string("category")), "category")
        isFavorite = try fields.int("isFavorite") != 0
        visits = try fields.int("visits")
        elevation = try fields.double("elevation")
        rating = try fields.double("rating")
        opened = try fields.date("opened")
        website = try fields.unwrap(URL(string: fields.string("website")), "website")
        tags = try fields.list("tags").map { value in
            guard case .string(let string) = value else { throw UnexpectedField(name: "tags") }
            return string
        }
        note = try fields.optionalString("note")
        coordinate = try fields.unwrap(Coordinate(jsonByHand: fields.bytes("coordinate")), "coordinate")
    }
}

extension FlatLandmark.Coordinate {
    fileprivate var jsonByHand: Data {
        Data("{\"latitude\":\(latitude),\"longitude\":\(longitude)}".utf8)
    }

    /// Reads exactly what ``jsonByHand`` writes.
    fileprivate init?(jsonByHand data: Data) {
        let text = String(decoding: data, as: UTF8.self).utf8
        guard let comma = text.firstIndex(of: UInt8(ascii: ",")), text.last == UInt8(ascii: "}") else {
            return nil
        }
        let first = text[..<comma].dropFirst("{\"latitude\":".utf8.count)
        let second = text[comma...].dropFirst(",\"longitude\":".utf8.count).dropLast()
        guard let latitude = Double(Substring(first)), let longitude = Double(Substring(second)) else {
            return nil
        }
        self.init(latitude: latitude, longitude: longitude)
    }
}
