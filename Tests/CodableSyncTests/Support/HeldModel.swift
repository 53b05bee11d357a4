import CodableSync
import Foundation

/// Holds the decoding of one record, or a closure of a test, until the test releases it.
final class DecodingHold: Sendable {
    private static let holds = Locked<[String: DecodingHold]>([:])

    private let gate = Gate()
    private let semaphore = DispatchSemaphore(value: 0)

    /// Holds the next decoding of the record with this name.
    static func next(of name: String) -> DecodingHold {
        let hold = DecodingHold()
        holds.withLock { $0[name] = hold }
        return hold
    }

    /// Waits for the release if the test has asked to hold this name; the model calls this while it is decoded.
    static func pass(_ name: String) {
        guard let hold = holds.withLock({ $0.removeValue(forKey: name) }) else { return }
        let gate = hold.gate
        Task { try await gate.pass() }
        hold.semaphore.wait()
    }

    /// Returns once the decoding is held.
    func reached() async { await gate.reached() }

    func release() {
        gate.open()
        semaphore.signal()
    }
}

/// A model whose decoding a test can hold.
struct HeldItem: RecordCodable, Equatable {
    static var recordType: String { "Item" }

    var id: String
    var title = ""
    var note: String?

    var recordName: String { id }

    init(_ id: String, _ title: String = "", note: String? = nil) {
        (self.id, self.title, self.note) = (id, title, note)
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(String.self, forKey: .id)
        title = try container.decode(String.self, forKey: .title)
        note = try container.decodeIfPresent(String.self, forKey: .note)
        DecodingHold.pass(id)
    }

    static func resolveConflict(_ conflict: Conflict<HeldItem>) throws -> HeldItem? { try conflict.merged() }
}
