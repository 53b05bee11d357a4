import struct Foundation.URL

extension URL: FieldConvertible {
    static var fieldKind: RecordValue.Kind { .string }

    /// A file URL becomes an asset, and any other URL its text.
    func fieldValue(at place: @autoclosure () -> CodingPlace) throws -> RecordValue {
        let text = absoluteString
        if text.isPlainWebAddress { return .string(text) }
        return isFileURL ? .asset(RecordAsset(fileURL: self)) : .string(try self.text(at: place()))
    }

    /// The absolute text, if the URL can be recreated from it.
    func text(at place: @autoclosure () -> CodingPlace) throws -> String {
        let absoluteString = absoluteString
        if absoluteString.isPlainWebAddress { return absoluteString }
        guard URL(string: absoluteString)?.absoluteString == absoluteString else {
            throw place().encodingError(self) {
                .invalidURL(field: $0, value: absoluteString.abbreviated)
            }
        }
        return absoluteString
    }

    static func list(of values: [URL], at place: @autoclosure () -> CodingPlace) throws -> [RecordValue] {
        let kind = values.first?.isFileURL
        return try values.indices.map { index in
            guard values[index].isFileURL == kind else {
                throw place().element(index).encodingError(values[index], .mixedList(field: place().field))
            }
            return try values[index].fieldValue(at: place().element(index))
        }
    }

    init(field value: RecordValue, at place: @autoclosure () -> CodingPlace) throws {
        switch value {
        case .string(let string):
            guard let url = URL(string: string) else { throw place().outOfRange(URL.self, string) }
            self = url
        case .asset(let asset):
            guard let fileURL = asset.fileURL else {
                throw place().mismatch(
                    URL.self,
                    expected: "a file on this device",
                    found: "an asset not fetched"
                )
            }
            self = fileURL
        default:
            throw place().mismatch(URL.self, expected: "a string or an asset", found: value.kind.rawValue)
        }
    }
}

extension RecordReference: FieldConvertible {
    static var fieldKind: RecordValue.Kind { .reference }

    func fieldValue(at place: @autoclosure () -> CodingPlace) throws -> RecordValue {
        do throws(RecordCodingError) {
            try RecordLimits.check(self)
        } catch {
            throw place().encodingError(self, error)
        }
        return .reference(self)
    }

    init(field value: RecordValue, at place: @autoclosure () -> CodingPlace) throws {
        guard case .reference(let reference) = value else {
            throw place().mismatch(RecordReference.self, expected: "a reference", found: value.kind.rawValue)
        }
        do throws(RecordCodingError) {
            try RecordLimits.check(reference)
        } catch {
            throw place().corrupted(error)
        }
        self = reference
    }
}

extension RecordLocation: FieldConvertible {
    static var fieldKind: RecordValue.Kind { .location }

    func fieldValue(at place: @autoclosure () -> CodingPlace) throws -> RecordValue {
        for case let number? in numbers { _ = try number.fieldValue(at: place()) }
        var location = self
        if case .date(let rounded)? = try timestamp?.fieldValue(at: place()) { location.timestamp = rounded }
        return .location(location)
    }

    init(field value: RecordValue, at place: @autoclosure () -> CodingPlace) throws {
        guard case .location(let location) = value else {
            throw place().mismatch(RecordLocation.self, expected: "a location", found: value.kind.rawValue)
        }
        self = location
    }
}

extension RecordAsset: FieldConvertible {
    static var fieldKind: RecordValue.Kind { .asset }

    func fieldValue(at place: @autoclosure () -> CodingPlace) -> RecordValue { .asset(self) }

    init(field value: RecordValue, at place: @autoclosure () -> CodingPlace) throws {
        guard case .asset(let asset) = value else {
            throw place().mismatch(RecordAsset.self, expected: "an asset", found: value.kind.rawValue)
        }
        self = asset
    }
}
