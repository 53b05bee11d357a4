import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

// Short forms of the values that the machine's tests compare.

extension ContentHandle: ExpressibleByIntegerLiteral {
    /// The handle with this number.
    public init(integerLiteral value: UInt64) { self.init(value) }
}

extension ChangeToken {
    init(_ text: String) { self.init(Data(text.utf8)) }
}

extension KnownVersion {
    /// Derives version, tag, contents, hash and date from one number.
    init(_ number: UInt64, hash: UInt64? = nil, schema: Int = 1) {
        self.init(
            changeTag: "t\(number)",
            handle: ContentHandle(number),
            hash: hash ?? number,
            modified: Date(timeIntervalSince1970: Double(number)),
            schema: SchemaVersion(schema)
        )
    }
}

extension FetchedRecord {
    init(_ name: String, _ number: UInt64, hash: UInt64? = nil, schema: Int = 1) {
        self.init(name: name, version: KnownVersion(number, hash: hash, schema: schema))
    }
}

extension NewChange {
    static func save(_ name: String, _ handle: UInt64, size: Int = 100) -> NewChange {
        NewChange(
            name: name,
            kind: .save(ContentHandle(handle), size: size),
            edited: Date(timeIntervalSince1970: 1_700_000_000)
        )
    }

    static func delete(_ name: String) -> NewChange {
        NewChange(name: name, kind: .delete, edited: Date(timeIntervalSince1970: 1_700_000_000))
    }
}

extension [SyncAction] {
    /// The requests to the cloud, without their ids.
    var requests: [String] {
        compactMap { action in
            guard case .request(_, let request) = action else { return nil }
            return switch request {
            case .checkAccount: "checkAccount"
            case .saveZone: "saveZone"
            case .subscribe(let isMade): isMade ? "check subscription" : "subscribe"
            case .unsubscribe: "unsubscribe"
            case .readDatabaseChanges: "readDatabaseChanges"
            case .fetch(let since):
                "fetch \(since.map { String(decoding: $0.data, as: UTF8.self) } ?? "-")"
            case .lookUp(let keys): "lookUp \(keys.map(\.recordName).joined(separator: " "))"
            case .send(let items):
                "send "
                    + items.map { item in
                        let what = item.handle.map { "\($0.number)" } ?? "delete"
                        return "\(item.name)=\(what)@\(item.known?.changeTag ?? "-")"
                    }.joined(separator: " ")
            }
        }
    }

    /// What the journal stores of these actions, in order.
    var lines: [StateRow] {
        flatMap { if case .store(let changes) = $0 { changes.rows } else { [StateRow]() } }
    }

    var answers: [CallAnswer] { compactMap { if case .answer(_, let answer) = $0 { answer } else { nil } } }

    var deliveries: [[DeliveryItem]] {
        compactMap { if case .deliver(_, let items) = $0 { items } else { nil } }
    }

    var marks: [StreamMark] { compactMap { if case .mark(_, let mark) = $0 { mark } else { nil } } }

    var delivered: [DeliveryItem] { deliveries.flatMap { $0 } }

    var events: [SyncEvent] { compactMap { if case .report(.event(let event)) = $0 { event } else { nil } } }

    var loading: [ContentsEvent] {
        compactMap { if case .report(.contentsEvent(let event)) = $0 { event } else { nil } }
    }

    var conflicts: [ReconcileItem] {
        flatMap { if case .reconcile(let items) = $0 { items } else { [ReconcileItem]() } }
    }

    var statuses: [SyncStatus] {
        compactMap { if case .report(.status(let status)) = $0 { status } else { nil } }
    }

}

func item(_ name: String, updated handle: UInt64) -> DeliveryItem {
    DeliveryItem(name: name, kind: .updated(ContentHandle(handle)))
}

func item(_ name: String, saved handle: UInt64) -> DeliveryItem {
    DeliveryItem(name: name, kind: .saved(ContentHandle(handle)))
}

func item(deleted name: String) -> DeliveryItem { DeliveryItem(name: name, kind: .deleted) }
