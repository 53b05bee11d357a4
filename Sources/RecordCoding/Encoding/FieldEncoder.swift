import struct Foundation.Data

/// The encoder of the top level: its one keyed container is the fields of a record.
struct FieldEncoder: Encoder {
    let target: FieldTarget

    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    /// Encodes a value into fields.
    static func fields<Value: Encodable>(of value: Value) throws -> [String: RecordValue] {
        let target = FieldTarget(skipsSystemFields: value is any SystemFieldsStoring)
        try value.encode(to: FieldEncoder(target: target))
        try target.session.check()
        return target.finished()
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(FieldEncodingContainer(target: target))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        target.session.fail("its top level is an unkeyed container", at: [])
        return JSONUnkeyedEncodingContainer(target.session, JSONBox(.array([])), [], 1)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        target.session.fail("its top level is a single value", at: [])
        return JSONSingleValueEncodingContainer(
            session: target.session,
            box: JSONBox(),
            place: CodingPlace([]),
            depth: 1
        )
    }
}

/// The fields while they are encoded, shared by all containers of the top level.
final class FieldTarget {
    let session = EncodingSession()
    private let skipsSystemFields: Bool
    private var fields = [String: RecordValue](minimumCapacity: 16)
    /// Fields with JSON that is not complete: nested containers may be filled until the end.
    private var boxes: [String: JSONBox] = [:]

    init(skipsSystemFields: Bool) { self.skipsSystemFields = skipsSystemFields }

    /// Whether the key is that of the model's copy of the system fields, which is never a field.
    func skips(_ key: any CodingKey) -> Bool {
        skipsSystemFields && key.stringValue == SystemFieldsKey.name
    }

    func put(_ value: RecordValue, _ key: any CodingKey) {
        guard session.allowsField(key) else { return }
        let name = key.stringValue
        fields[name] = value
        if !boxes.isEmpty { boxes[name] = nil }
    }

    /// A new box that becomes a field at the end.
    func nestedBox(_ key: any CodingKey) -> JSONBox {
        let box = JSONBox()
        guard !skips(key) else { return box }
        guard session.allowsField(key) else { return box }
        fields[key.stringValue] = nil
        boxes[key.stringValue] = box
        return box
    }

    func finished() -> [String: RecordValue] {
        for (name, box) in boxes { fields[name] = .bytes(Data(box.bytes)) }
        return fields
    }
}

/// The key of ``SystemFieldsStoring/systemFields``.
enum SystemFieldsKey {
    static let name = "systemFields"
}
