import Foundation
import XCTest

@testable import RecordCoding

/// How a type is coded follows from the type itself, on which the casts of the coders rely.
final class TypeKindTests: XCTestCase {
    private func assertOwnKind<Value: FieldConvertible>(_ type: Value.Type, line: UInt = #line) {
        let coder = FieldEncoder()
        guard case .value(let found) = coder.fieldKind(of: type) else {
            return XCTFail("\(type) is no value.", line: line)
        }
        XCTAssertTrue(found == type, "\(found)", line: line)
        guard case .values(let element) = coder.fieldKind(of: [Value].self) else {
            return XCTFail("An array of \(type) is no list.", line: line)
        }
        XCTAssertTrue(element == type, "\(element)", line: line)
    }

    private func assertOwnJSON<Value: JSONConvertible>(_ type: Value.Type, line: UInt = #line) {
        let coder = FieldEncoder()
        guard case .value(let found) = coder.jsonKind(of: type) else {
            return XCTFail("\(type) is no value.", line: line)
        }
        XCTAssertTrue(found == type, "\(found)", line: line)
    }

    func testTheValueOfAFieldHasTheTypeOfTheProperty() {
        let types: [any FieldConvertible.Type] = [
            String.self, Bool.self, Int.self, Int8.self, Int16.self, Int32.self, Int64.self, UInt.self,
            UInt8.self, UInt16.self, UInt32.self, UInt64.self, Double.self, Float.self, Date.self, Data.self,
            URL.self, UUID.self, RecordReference.self, RecordLocation.self, RecordAsset.self,
        ]
        for type in types { assertOwnKind(type) }
    }

    func testAValueOfJSONHasTheTypeOfTheMember() {
        let types: [any JSONConvertible.Type] = [
            String.self, Bool.self, Int.self, Int8.self, Int16.self, Int32.self, Int64.self, UInt.self,
            UInt8.self, UInt16.self, UInt32.self, UInt64.self, Double.self, Float.self, Date.self, Data.self,
            URL.self, Decimal.self,
        ]
        for type in types { assertOwnJSON(type) }
    }

    /// The coders find these types in generic properties too, where no function for the type is called.
    func testGenericPropertiesAreCodedAsPlainOnes() throws {
        func check<Value: Arbitrary>(_ type: Value.Type) throws {
            var random = RandomTrees(seed: 7)
            for _ in 0..<20 {
                let value = Box(value: Value.random(&random))
                XCTAssertEqual(try decoded(Box<Value>.self, fields(value)), value)
                let list = Box(value: [value.value, .random(&random)])
                XCTAssertEqual(try decoded(Box<[Value]>.self, fields(list)), list)
                let nested = Box(value: [[value.value]])
                XCTAssertEqual(try decoded(Box<[[Value]]>.self, fields(nested)), nested)
            }
        }
        let types: [any Arbitrary.Type] = [
            String.self, Bool.self, Int.self, Int8.self, Int16.self, Int32.self, Int64.self, UInt.self,
            UInt8.self, UInt16.self, UInt32.self, UInt64.self, Double.self, Float.self, Date.self, Data.self,
            URL.self, UUID.self, RecordReference.self, RecordLocation.self, Decimal.self,
        ]
        for type in types { try check(type) }
    }
}
