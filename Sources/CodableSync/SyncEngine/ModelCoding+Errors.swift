import RecordCoding

/// Errors in words: what is wrong, and where, without the contents of the model.
extension ModelCoding {
    /// An error in words, with its place, without the contents of the model.
    ///
    /// What the model's own code throws is quoted if it describes itself; else only its kind is named, since the
    /// compiler's description would show what it holds.
    func describe(_ error: any Error) -> String {
        switch error {
        case let error as EncodingError:
            guard case .invalidValue(_, let context) = error else { return "The model cannot be encoded." }
            return describe(context.codingPath, context.debugDescription, context.underlyingError)
        case let error as DecodingError:
            return describe(error)
        case let error as RecordCodingError:
            return error.withoutValues.description
        case let error as Failure:
            return error.description
        case let error as UnreadableContents:
            return error.description
        case let error as any Error & CustomStringConvertible:
            return "The model's code threw: \(error.description.abbreviated(to: 400))"
        default:
            return describeKind(of: error)
        }
    }

    private func describe(_ error: DecodingError) -> String {
        switch error {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context):
            return describe(context.codingPath, context.debugDescription, context.underlyingError)
        case .dataCorrupted(let context):
            // The standard library quotes the raw value that an enumeration does not have.
            let text = "The stored value is not valid for this property."
            return describe(context.codingPath, text, context.underlyingError)
        @unknown default:
            return "The model cannot be decoded."
        }
    }

    private func describe(_ path: [any CodingKey], _ text: String, _ cause: (any Error)?) -> String {
        if let cause = cause as? RecordCodingError { return cause.withoutValues.description }
        let place = path.map(\.stringValue).joined(separator: ".").abbreviated
        let text = text.abbreviated(to: 400)
        return place.isEmpty ? text : "\(place): \(text)"
    }

    private func describeKind(of error: any Error) -> String {
        let mirror = Mirror(reflecting: error)
        let isCase = mirror.displayStyle == .enum
        let name =
            isCase && mirror.children.isEmpty ? "\(error)".abbreviated(to: 400) : mirror.children.first?.label
        return "The model's code threw \(type(of: error))" + (isCase ? name.map { ".\($0)" } ?? "" : "") + "."
    }
}

extension RecordCodingError {
    /// The same error without the value that it is about; names stay.
    fileprivate var withoutValues: RecordCodingError {
        let hidden = "a value not shown here"
        return switch self {
        case .integerOutOfRange(let field, _): .integerOutOfRange(field: field, value: hidden)
        case .dateOutOfRange(let field, _): .dateOutOfRange(field: field, value: "not shown here")
        case .precisionLoss(let field, _): .precisionLoss(field: field, value: hidden)
        case .invalidURL(let field, _): .invalidURL(field: field, value: "not shown here")
        case .valueOutOfRange(let field, let expected, _):
            .valueOutOfRange(field: field, expected: expected, value: hidden)
        case .invalidName, .unstableRecordName, .recordNameMismatch, .unsupportedShape, .tooDeep,
            .nonFiniteNumber, .nestedFile, .mixedList, .tooLarge, .missingField, .unexpectedKind,
            .malformedJSON, .unreadableSystemFields:
            self
        }
    }
}
