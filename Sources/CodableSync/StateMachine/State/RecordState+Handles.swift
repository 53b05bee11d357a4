extension RecordState {
    /// The contents that the record needs.
    var handles: [ContentHandle] {
        let handles =
            [
                known?.handle, lost?.handle, given, copy, pending?.handle, pending?.base, pending?.contested,
                undelivered?.kind.handle, undelivered?.seen,
            ] + sent.flatMap { [$0.handle, $0.base] }
        return Set(handles.compactMap { $0 }).sorted()
    }
}
