import RecordCoding

import struct Foundation.Date

/// One entry of the journal.
///
/// Applying the entries in order gives the engine's durable state; nothing else changes it. Each room has
/// entries of its own, and the functions that apply them are next to it.
///
/// The machine applies an entry at once and undoes it if it cannot be stored. Effects outside the state wait
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
    case snapshot(SnapshotEntry)
}

extension JournalEntry {
    /// Whether the cloud or a stream would repeat what a lost entry says, so that it need not be flushed by
    /// itself: it shares a later flush.
    ///
    /// A batch is flushed at once if one of its entries is not repeatable.
    package var isRepeatable: Bool {
        switch self {
        case .zones(let entry): entry.isRepeatable
        case .fetching(let entry): entry.isRepeatable
        case .sending(let entry): entry.isRepeatable
        case .delivering: true
        case .account, .calls, .resolving, .serverWait, .note, .snapshot: false
        }
    }

    /// The handles of new contents that the entry introduces.
    package var introduced: [ContentHandle] {
        switch self {
        case .fetching(.fetched(_, _, let version)): [version.handle]
        case .sending(.saved(_, _, _, let version)): [version.handle]
        case .resolving(let entry): entry.introduced
        case .calls(let entry): entry.introduced
        case .account, .zones, .fetching, .sending, .delivering, .serverWait, .note, .snapshot: []
        }
    }

    /// Every handle that the entry names.
    package var named: [ContentHandle] {
        switch self {
        case .fetching(.fetched(_, _, let version)): [version.handle]
        case .sending(let entry): entry.named
        case .resolving(let entry): entry.named
        case .calls(let entry): entry.named
        case .snapshot(.record(_, _, let record)): record.handles
        case .account, .zones, .fetching, .delivering, .serverWait, .note, .snapshot: []
        }
    }
}

/// Applying entries to the state, both as they happen and when the journal is read at opening.
extension SyncState {
    // Not inlined: it has many callers, and is as large as all rooms' entries together.
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
        case .snapshot(let entry): apply(snapshot: entry)
        }
    }
}
