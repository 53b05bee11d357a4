extension RecordState {
    /// The contents that the record needs, in order.
    package var handles: [ContentHandle] {
        let versions = [lastKnown, kept?.version].map { $0?.handle }
        var handles = versions + [undelivered?.kind.handle, undelivered?.former]
        handles += sent.flatMap { [$0.handle, $0.base] }
        handles += carried.named
        if let pending { handles += pending.named }
        return handles.compactMap { $0 }.sorted().reduce(into: []) { distinct, handle in
            if distinct.last != handle { distinct.append(handle) }
        }
    }
}
