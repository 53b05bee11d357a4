import Foundation
import RecordCoding

extension Work {
    /// Encoding and decoding of one model, of its record as a line of JSON, and both together.
    static func models<Model: WrittenByHand>(
        _ subject: String,
        _ model: Model,
        isLong: Bool = false
    ) throws -> [Work] {
        try encoding(subject, model, isLong: isLong)
            + decoding(subject, model, isLong: isLong)
            + lines(subject, model, isLong: isLong)
            + saving(subject, model, isLong: isLong)
    }

    /// Encoding and decoding of a model whose record name is the app's own code.
    static func names<Model: RecordCodable>(_ subject: String, _ model: Model) throws -> [Work] {
        let encoder = RecordEncoder()
        let decoder = RecordDecoder()
        let json = JSONEncoder()
        let jsonDecoder = JSONDecoder()
        let record = try encoder.encode(model)
        let text = try json.encode(model)
        return [
            Work(subject, "encode", by: .codableSync) { try encoder.encode(model) },
            Work(subject, "encode", by: .json) { try json.encode(model) },
            Work(subject, "name", by: .codableSync) { model.recordName },
            Work(subject, "decode", by: .codableSync) { try decoder.decode(Model.self, from: record) },
            Work(subject, "decode", by: .json) { try jsonDecoder.decode(Model.self, from: text) },
        ]
    }

    private static func encoding(_ subject: String, _ model: some WrittenByHand, isLong: Bool) -> [Work] {
        let encoder = RecordEncoder()
        let json = JSONEncoder()
        let list = PropertyListEncoder.binary
        return [
            Work(subject, "encode", by: .codableSync, isLong: isLong) { try encoder.encode(model) },
            Work(subject, "encode", by: .json, isLong: isLong) { try json.encode(model) },
            Work(subject, "encode", by: .propertyList, isLong: isLong) { try list.encode(model) },
            Work(subject, "encode", by: .byHand, isLong: isLong) { model.recordByHand },
        ]
    }

    private static func decoding<Model: WrittenByHand>(
        _ subject: String,
        _ model: Model,
        isLong: Bool
    ) throws -> [Work] {
        let record = try RecordEncoder().encode(model)
        let text = try JSONEncoder().encode(model)
        let data = try PropertyListEncoder.binary.encode(model)
        let decoder = RecordDecoder()
        let json = JSONDecoder()
        let list = PropertyListDecoder()
        return [
            Work(subject, "decode", by: .codableSync, isLong: isLong) {
                try decoder.decode(Model.self, from: record)
            },
            Work(subject, "decode", by: .json, isLong: isLong) { try json.decode(Model.self, from: text) },
            Work(subject, "decode", by: .propertyList, isLong: isLong) {
                try list.decode(Model.self, from: data)
            },
            Work(subject, "decode", by: .byHand, isLong: isLong) { try Model(byHand: record) },
        ]
    }

    /// A record that is there already, to its line of JSON and back; JSON's coders work on the model itself.
    private static func lines<Model: WrittenByHand>(
        _ subject: String,
        _ model: Model,
        isLong: Bool
    ) throws -> [Work] {
        let record = try RecordEncoder().encode(model)
        let line = RecordJSON.encode(record)
        let text = try JSONEncoder().encode(model)
        let encoder = JSONEncoder()
        let decoder = JSONDecoder()
        return [
            Work(subject, "write-line", by: .codableSync, isLong: isLong) { RecordJSON.encode(record) },
            Work(subject, "write-line", by: .json, isLong: isLong) { try encoder.encode(model) },
            Work(subject, "read-line", by: .codableSync, isLong: isLong) { try RecordJSON.decode(line) },
            Work(subject, "read-line", by: .json, isLong: isLong) {
                try decoder.decode(Model.self, from: text)
            },
        ]
    }

    /// A model to the bytes that are stored, and back.
    private static func saving<Model: WrittenByHand>(
        _ subject: String,
        _ model: Model,
        isLong: Bool
    ) throws -> [Work] {
        let line = RecordJSON.encode(try RecordEncoder().encode(model))
        let text = try JSONEncoder().encode(model)
        let encoder = JSONEncoder()
        let decoder = JSONDecoder()
        return [
            Work(subject, "save", by: .codableSync, isLong: isLong) {
                RecordJSON.encode(try RecordEncoder().encode(model))
            },
            Work(subject, "save", by: .json, isLong: isLong) { try encoder.encode(model) },
            Work(subject, "load", by: .codableSync, isLong: isLong) {
                try RecordDecoder().decode(Model.self, from: RecordJSON.decode(line))
            },
            Work(subject, "load", by: .json, isLong: isLong) { try decoder.decode(Model.self, from: text) },
        ]
    }
}

extension PropertyListEncoder {
    /// An encoder that writes the binary form.
    fileprivate static var binary: PropertyListEncoder {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        return encoder
    }
}
