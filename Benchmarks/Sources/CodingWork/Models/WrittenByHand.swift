import Foundation
import RecordCoding

/// A model whose record can also be made without `Codable`, by code written for this one model.
///
/// That is the shortest way a model can go. A coder has to find out at run time what this code knows.
package protocol WrittenByHand: RecordCodable, Equatable {
    /// The record that ``RecordCoding/RecordEncoder`` makes.
    var recordByHand: Record { get }

    /// Reads the fields of a record.
    ///
    /// - Parameter record: The record.
    /// - Throws: If a field is missing or of another kind.
    init(byHand record: Record) throws
}

/// A field that is missing or of another kind.
struct UnexpectedField: Error {
    let name: String
}

/// The fields of a record, read by hand.
struct FieldsByHand {
    let fields: [String: RecordValue]

    func string(_ name: String) throws -> String {
        guard case .string(let string)? = fields[name] else { throw UnexpectedField(name: name) }
        return string
    }

    func optionalString(_ name: String) throws -> String? {
        switch fields[name] {
        case .string(let string)?: return string
        case .null?, nil: return nil
        default: throw UnexpectedField(name: name)
        }
    }

    func int(_ name: String) throws -> Int {
        guard case .int64(let int)? = fields[name] else { throw UnexpectedField(name: name) }
        return Int(int)
    }

    func double(_ name: String) throws -> Double {
        guard case .double(let double)? = fields[name] else { throw UnexpectedField(name: name) }
        return double
    }

    func date(_ name: String) throws -> Date {
        guard case .date(let date)? = fields[name] else { throw UnexpectedField(name: name) }
        return date
    }

    func list(_ name: String) throws -> [RecordValue] {
        guard case .list(let values)? = fields[name] else { throw UnexpectedField(name: name) }
        return values
    }

    func bytes(_ name: String) throws -> Data {
        guard case .bytes(let bytes)? = fields[name] else { throw UnexpectedField(name: name) }
        return bytes
    }

    /// Converts what a field holds.
    func unwrap<Value>(_ value: Value?, _ name: String) throws -> Value {
        guard let value else { throw UnexpectedField(name: name) }
        return value
    }
}
