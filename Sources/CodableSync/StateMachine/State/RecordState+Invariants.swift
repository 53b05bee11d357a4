extension RecordState {
    /// Checks what holds for every record, after every change.
    ///
    /// Simulations and tests call it after each input.
    ///
    /// - Returns: What does not hold, in words; empty for a valid record.
    package func checkInvariants() -> [String] {
        var broken: [String] = []
        func expect(_ holds: Bool, _ text: String) { if !holds { broken.append(text) } }
        expect(!isEmpty, "the record is empty")
        expect(!isSendable || !isInConflict, "sendable and in conflict at once")
        let handles = sent.map(\.handle).sorted()
        expect(zip(handles, handles.dropFirst()).allSatisfy { $0 != $1 }, "sent twice")
        expect(kept == nil || isTooNew, "a version is kept beside one that can be read")
        expect(carried == CarriedTags() || lastKnown != nil, "tags are kept without a version")
        if let pending {
            let handle = pending.handle
            expect(handle == nil || handle != lastKnown?.handle, "the pending edit is the known version")
            expect(handle == nil || handle != pending.base, "the edit is its own base")
            expect(!pending.isDeletion || !pending.isUndecided, "a deletion is undecided")
            expect(!pending.isDeletion || pending.on.lost == nil, "a deletion has a lost base")
        }
        if isTooNew, let last = lastKnown?.handle {
            expect(pending.map { $0.parked != nil } ?? true, "an edit is not parked")
            expect(kept?.handle != last, "the kept version is the newer one")
            expect(shownHandle != last, "a version is shown that can't be read")
        }
        return broken
    }
}
