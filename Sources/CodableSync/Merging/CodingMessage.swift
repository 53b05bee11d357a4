@_spi(Reasons) import RecordCoding

import protocol Foundation.LocalizedError

/// Messages for coding errors: what is wrong and where, without the contents of the model.
extension ModelRules {
    /// Describes an error and its place without the contents of the model.
    ///
    /// An error from the model's own code is quoted if it has a description of its own. Otherwise only its
    /// type and case are named, since the compiler's default description would show its values.
    func describe(_ error: any Error) -> String {
        switch error {
        case let error as EncodingError:
            guard case .invalidValue(_, let context) = error else { return "The model cannot be encoded." }
            return describe(context.codingPath, context.debugDescription, context.underlyingError)
        case let error as DecodingError:
            return describe(error)
        case let error as RecordCodingError:
            return error.withoutValues.description
        case let error as CodingFailure:
            return error.description
        case let error as UnreadableContents:
            return error.description
        // Their localized text is for the app's user.
        case let error as SyncError:
            return "The model's code threw: \(error.description.abbreviated(to: 400))"
        case let error as CloudError:
            return "The model's code threw: \(error.description.abbreviated(to: 400))"
        case let error as any LocalizedError where error.errorDescription != nil:
            return "The model's code threw: \((error.errorDescription ?? "").abbreviated(to: 400))"
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
            return describe(
                context.codingPath,
                withoutValue(context.debugDescription),
                context.underlyingError
            )
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

    /// The text of the model's own code; the standard library's text would quote the stored value.
    private func withoutValue(_ text: String) -> String {
        guard text.isEmpty || text.hasPrefix("Cannot initialize ") else { return text }
        return
            "The stored value isn't valid for this property. Update the app, or decode such a value as another."
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
    /// The same error with the value hidden; names stay.
    fileprivate var withoutValues: RecordCodingError {
        let hidden = "a value not shown here"
        return switch self {
        case .integerOutOfRange(let field, _): .integerOutOfRange(field: field, value: hidden)
        case .dateOutOfRange(let field, _): .dateOutOfRange(field: field, value: "not shown here")
        case .precisionLoss(let field, _): .precisionLoss(field: field, value: hidden)
        case .invalidURL(let field, _): .invalidURL(field: field, value: "not shown here")
        case .valueOutOfRange(let field, let expected, _):
            .valueOutOfRange(field: field, expected: expected, value: hidden)
        case .invalidName, .invalidFieldNames, .unusableDefaults, .unstableRecordName, .recordNameMismatch,
            .unsupportedShape, .tooDeep,
            .nonFiniteNumber, .nestedFile, .mixedList, .tooLarge, .missingField, .unexpectedKind,
            .malformedJSON, .invalidSchema, .unreadableSystemFields, .unknownEncryptedField,
            .unencryptableField:
            self
        }
    }
}
