import RecordCoding

import struct Foundation.Date

/// A change of the durable state; nothing else changes it.
///
/// Each folder has entries of its own, and the functions that apply them are next to them. The journal stores the rows
/// that they changed.
///
/// The machine applies an entry at once; if that cannot be stored, the core returns to the machine before it. Effects outside the state wait
/// until the entry is stored: answers to calls, deliveries to the app, and requests that change the cloud.
package enum JournalEntry: Equatable, Sendable {
    case account(AccountEntry)
    case zones(ZoneEntry)
    case fetching(FetchEntry)
    case sending(SendEntry)
    case resolving(ResolveEntry)
    case delivering(DeliveryEntry)
    case calls(CallEntry)
    /// The server asked the client to wait.
    case serverWait(until: Date?)
    /// A note for the diagnostics that outlives a restart.
    case note(SyncNote)
    case row(StateRow)
}

extension JournalEntry {
    /// Whether the cloud or a stream would repeat what a lost entry says, so that it need not be flushed by
    /// itself: it shares a later flush.
    ///
    /// A turn is flushed at once if one of its entries is not repeatable.
    package var isRepeatable: Bool {
        switch self {
        case .zones(let entry): entry.isRepeatable
        case .fetching(let entry): entry.isRepeatable
        case .sending(let entry): entry.isRepeatable
        case .delivering: true
        case .account, .calls, .resolving, .serverWait, .note, .row: false
        }
    }
}

/// Applying entries to the state.
extension SyncState {
    // Not inlined: it has many callers, and is as large as all entries together.
    @inline(never)
    package mutating func apply(_ entry: JournalEntry) {
        switch entry {
        case .account(let entry): apply(account: entry)
        case .zones(let entry): apply(zones: entry)
        case .fetching(let entry): apply(fetching: entry)
        case .sending(let entry): apply(sending: entry)
        case .resolving(let entry): apply(resolving: entry)
        case .delivering(let entry): apply(delivering: entry)
        case .calls(let entry): apply(calls: entry)
        case .serverWait(let until): changeSummary { $0.serverWait = until }
        case .note(let note): keep(note)
        case .row(let row): apply(row: row)
        }
    }
}
