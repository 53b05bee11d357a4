import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// A test of versions that a newer version of the app has written.
class MachineTooNewTestCase: MachineTestCase {
    override func setUp() {
        super.setUp()
        machine.know("A", 1)
        machine.run(.delivery(.streamRequested(1)))
        machine.run(.delivery(.streamRequested(2, .live)))
        machine.run(.delivery(.streamRequested(2, .live)))
        machine.run(.delivery(.streamRequested(2, .live)))
    }

    var record: RecordState? { machine.state["A"] }

    /// Another device with a newer version of the app saves A.
    @discardableResult
    func fetchNewer(_ name: String = "A", _ number: UInt64 = 2) -> [SyncAction] {
        machine.fetch([.init(name, number, schema: 2)], token: "newer-\(name)-\(number)")
    }

    @discardableResult
    func fetchReadable(_ number: UInt64 = 3, hash: UInt64? = nil) -> [SyncAction] {
        machine.fetch([.init("A", number, hash: hash)], token: "readable-\(number)")
    }

    var parkReason: ParkReason? { record?.pending?.parked }
}
