import RecordCoding

import struct Foundation.Date

/// The result of reconciling an edit with the cloud's latest version.
package enum Resolution: Equatable, Sendable {
    /// The cloud's version is this device's own or equals the edit; nothing is left to send.
    case confirmed(ContentHandle)
    /// The edit stays unchanged, on top of the cloud's version.
    case client
    /// The edit is kept with another date, as a new copy of the same model.
    case redated(ContentHandle, size: Int, edited: Date?, hash: UInt64? = nil)
    /// The two were merged into a new model.
    case merged(ContentHandle, size: Int, edited: Date?, hash: UInt64? = nil)
    /// The edit is discarded in favour of the cloud's version.
    case server
    /// The conflict could not be resolved.
    case failed(ParkReason)
}

extension SyncState {
    /// Resolves a conflict between exactly these two contents.
    ///
    /// - Parameters:
    ///   - key: The record.
    ///   - client: The edit.
    ///   - server: The cloud's latest version; `nil` if it has none.
    ///   - resolution: The result.
    package mutating func resolve(
        _ key: RecordKey,
        client: ContentHandle,
        server: ContentHandle?,
        _ resolution: Resolution
    ) {
        promise()
        // The conflict no longer exists, because of a newer version or the loss of the zone.
        guard let record = records[key], record.isInConflict, record.known?.handle == server else { return }
        // The edit equals a version that a deletion in flight may have removed.
        let isDoubtful =
            record.isDeletionSent && !record.sent.contains { resolution == .confirmed($0.handle) }
        if case .confirmed(let sent) = resolution, !isDoubtful, let known = record.known {
            return confirm(sent, of: key, as: known)
        }
        // The edit has been replaced since; the conflict of the newer one is resolved again.
        guard record.pending?.handle == client else { return }
        let news = nextNews()
        let isConfirmed = if case .confirmed = resolution { true } else { false }
        change(key) { $0.resolve(isConfirmed ? .client : resolution, on: server, news) }
    }
}
