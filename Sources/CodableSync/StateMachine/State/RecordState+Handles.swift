extension RecordState {
    /// The contents that the record needs, in order.
    package var handles: [ContentHandle] {
        let handles =
            [
                known?.handle, lost?.handle, kept?.version.handle, given, copy, pending?.handle,
                pending?.base, pending?.contested, pending?.side,
                undelivered?.kind.handle, undelivered?.seen,
            ] + sent.flatMap { [$0.handle, $0.base] }
        return handles.compactMap { $0 }.sorted().reduce(into: []) { distinct, handle in
            if distinct.last != handle { distinct.append(handle) }
        }
    }
}
