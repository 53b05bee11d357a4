import Dispatch
import XCTest

@testable import CodableSync

/// Contents can be read at any moment of a compaction.
final class ReadingDuringCompactionTests: XCTestCase {
    private let files = MemoryFileSystem()

    private func fill(_ store: JSONStateStore, _ handles: ClosedRange<UInt64>) throws {
        let zoneID = ZoneID(zoneName: "Item")
        var contents: [ContentHandle: Record] = [:]
        var entries: [StateChange] = []
        for number in handles {
            let handle = ContentHandle(number)
            let id = RecordID(recordName: "n\(number)", zoneID: zoneID)
            contents[handle] = Record(recordType: "Item", recordID: id, fields: ["title": "Tea"])
            let change = LocalChange(kind: .save(handle, size: 10), edited: nil, base: nil)
            entries.append(.queued(name: "n\(number)", change))
        }
        try store.append(entries, contents, flush: false)
    }

    func testReadersFindAllContentsDuringACompaction() throws {
        let store = try JSONStateStore.open(directory: "/state", fileSystem: files).store
        try fill(store, 1...20)
        let isDone = Locked(false)
        let failures = Locked<[String]>([])
        let readers = DispatchGroup()
        for _ in 0..<2 {
            DispatchQueue.global().async(group: readers) {
                while !isDone.withLock({ $0 }) {
                    do {
                        let found = try store.load((1...20).map { ContentHandle($0) }).count
                        if found != 20 { failures.withLock { $0.append("\(found) of 20") } }
                    } catch {
                        failures.withLock { $0.append("\(error)") }
                    }
                }
            }
        }
        for _ in 0..<Cases.sample(80, of: 300) { try store.compact() }
        isDone.withLock { $0 = true }
        readers.wait()
        XCTAssertEqual(failures.withLock { Array($0.prefix(3)) }, [])
        store.close()
    }
}
