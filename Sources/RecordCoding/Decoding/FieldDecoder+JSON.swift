import struct Foundation.Data

extension FieldDecoder {
    /// Reads the JSON of a field of bytes; all of it is checked before any of it is decoded.
    func jsonDecoder(of text: Data, at place: CodingPlace, depth: Int) throws -> JSONValueDecoder {
        let position: Int
        do throws(JSONError) {
            position = try json.append(text, number: textCount)
        } catch {
            throw place.corrupted(.malformedJSON(field: place.field, reason: error.description))
        }
        let number = textCount
        if number == 0 {
            firstTextPlace = place
        } else {
            if number == 1 { otherTextPlaces.reserveCapacity(8) }
            otherTextPlaces.append(place)
        }
        textCount = number + 1
        return JSONValueDecoder(self, position, in: JSONToken.noContainer, at: number, depth: depth)
    }

    /// The JSON of a null.
    static let null = Data("null".utf8)

    /// The coding path of an array or object.
    func path(of position: Int) -> [any CodingKey] {
        let token = json.token(at: position)
        return path(of: position, in: token.container, at: token.index)
    }

    /// The coding path of a value.
    ///
    /// - Parameters:
    ///   - position: The position of the value.
    ///   - container: The position of the array or object that the value is in.
    ///   - index: The value's index in an array; for the outermost value of a text, the number of the text.
    /// - Returns: The path, from the record on.
    func path(of position: Int, in container: UInt32, at index: Int) -> [any CodingKey] {
        var keys: [any CodingKey] = []
        var (position, container, index) = (position, container, index)
        while container != JSONToken.noContainer {
            let token = json.token(at: Int(container))
            if token.kind == .array {
                keys.append(IndexKey(index))
            } else {
                keys.append(MemberKey(json.string(json.token(at: position - JSONToken.size))))
            }
            (position, container, index) = (Int(container), token.container, token.index)
        }
        let place = index == 0 ? firstTextPlace : otherTextPlaces[index - 1]
        return place.codingPath + keys.reversed()
    }
}

/// The key of a member in a coding path that is put together from the JSON.
private struct MemberKey: PathKey {
    let stringValue: String

    init(_ name: String) { stringValue = name }

    /// The same as that of a dictionary's key.
    var intValue: Int? { Int(stringValue) }
}
