import RecordCoding

/// What can be sent, and why a change is parked.
extension SyncState {
    /// The changes that could be sent now, in order, with the size of each in bytes.
    ///
    /// A change is held back while it waits, or while its record is looked up.
    func candidates(
        except isHeldBack: @escaping (RecordKey) -> Bool
    ) -> some Sequence<(item: SendItem, size: Int)> {
        sendQueue.keys.lazy.compactMap { key in isHeldBack(key) ? nil : sendable(key) }
    }

    private func sendable(_ key: RecordKey) -> (item: SendItem, size: Int)? {
        guard let record = self[key] else { return nil }
        if let lost = record.lost {
            return (SendItem(key: key, handle: lost.handle, known: nil), lost.size)
        }
        switch record.pending?.kind {
        case nil: return nil
        case .delete?: return (SendItem(key: key, handle: nil, known: record.known), 0)
        case .save(let handle, let size)?:
            var item = SendItem(key: key, handle: handle, known: record.known)
            item.isBehindUnanswered = record.isDeletionSent || !record.sent.isEmpty
            return (item, size)
        }
    }

    /// Why a single item is parked; for one that is too large, its size is added, which servers do not
    /// report.
    func reasonToPark(_ key: RecordKey, after error: CloudError) -> ParkReason {
        guard error.recovery == .split else {
            return ParkReason(kind: .refused, message: error.description)
        }
        var message = error.description
        if case .save(_, let size)? = self[key]?.pending?.kind {
            let limit = RecordLimits.maximumRecordBytes
            message += " The record has \(size) bytes; the limit known here is \(limit)."
        }
        return ParkReason(kind: .tooLarge, message: message)
    }
}

extension SyncContext {
    /// Parks a change if it is still the one that was sent.
    ///
    /// The server has not refused an edit made since, and a conflict that has arisen is resolved first.
    mutating func park(_ key: RecordKey, sent handle: ContentHandle?, _ reason: ParkReason) {
        guard let record = state[key], record.isSendable else { return }
        let sendable = record.lost.map { $0.handle } ?? record.pending?.handle
        if handle == sendable { park(key, reason) }
    }
}
