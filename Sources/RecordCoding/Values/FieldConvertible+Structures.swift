import struct Foundation.URL

extension URL: FieldConvertible {
    /// A file URL becomes an asset, and any other URL its text.
    func fieldValue(at place: CodingPlace) throws -> RecordValue {
        isFileURL ? .asset(RecordAsset(fileURL: self)) : .string(try text(at: place))
    }

    /// The absolute text, if the URL can be recreated from it.
    func text(at place: CodingPlace) throws -> String {
        guard URL(string: absoluteString)?.absoluteString == absoluteString else {
            throw place.encodingError(
                self,
                .invalidURL(field: place.field, value: absoluteString.abbreviated)
            )
        }
        return absoluteString
    }

    init(field value: RecordValue, at place: CodingPlace) throws {
        switch value {
        case .string(let string):
            guard let url = URL(string: string) else { throw place.outOfRange(URL.self, string) }
            self = url
        case .asset(let asset):
            guard let fileURL = asset.fileURL else {
                throw place.mismatch(
                    URL.self,
                    expected: "a file on this device",
                    found: "an asset not fetched"
                )
            }
            self = fileURL
        default: throw place.mismatch(URL.self, expected: "a string or an asset", found: value.kind.rawValue)
        }
    }
}

extension RecordReference: FieldConvertible {
    func fieldValue(at place: CodingPlace) throws -> RecordValue {
        do throws(RecordCodingError) {
            try RecordLimits.check(self)
        } catch {
            throw place.encodingError(self, error)
        }
        return .reference(self)
    }

    init(field value: RecordValue, at place: CodingPlace) throws {
        guard case .reference(let reference) = value else {
            throw place.mismatch(RecordReference.self, expected: "a reference", found: value.kind.rawValue)
        }
        do throws(RecordCodingError) {
            try RecordLimits.check(reference)
        } catch {
            throw place.corrupted(error)
        }
        self = reference
    }
}

extension RecordLocation: FieldConvertible {
    func fieldValue(at place: CodingPlace) throws -> RecordValue {
        for case let number? in numbers { _ = try number.fieldValue(at: place) }
        var location = self
        if case .date(let rounded)? = try timestamp?.fieldValue(at: place) { location.timestamp = rounded }
        return .location(location)
    }

    init(field value: RecordValue, at place: CodingPlace) throws {
        guard case .location(let location) = value else {
            throw place.mismatch(RecordLocation.self, expected: "a location", found: value.kind.rawValue)
        }
        self = location
    }
}

extension RecordAsset: FieldConvertible {
    func fieldValue(at place: CodingPlace) -> RecordValue { .asset(self) }

    init(field value: RecordValue, at place: CodingPlace) throws {
        guard case .asset(let asset) = value else {
            throw place.mismatch(RecordAsset.self, expected: "an asset", found: value.kind.rawValue)
        }
        self = asset
    }
}
