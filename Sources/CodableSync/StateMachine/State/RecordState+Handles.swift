extension RecordState {
    /// The contents that the record needs, in order.
    package var handles: [ContentHandle] {
        var handles =
            [
                known?.handle, lost?.handle, kept?.version.handle, given, copy,
                undelivered?.kind.handle, undelivered?.seen,
            ] + sent.flatMap { [$0.handle, $0.base] }
        if let pending { handles += pending.named }
        return handles.compactMap { $0 }.sorted().reduce(into: []) { distinct, handle in
            if distinct.last != handle { distinct.append(handle) }
        }
    }
}
