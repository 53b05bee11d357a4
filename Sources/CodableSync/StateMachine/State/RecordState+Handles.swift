extension RecordState {
    /// The contents that the record needs, in order.
    package var handles: [ContentHandle] {
        var handles: [ContentHandle] = []
        if let handle = lastKnown?.handle { handles.append(handle) }
        if let handle = kept?.version.handle { handles.append(handle) }
        if let handle = undelivered?.kind.handle { handles.append(handle) }
        if let handle = undelivered?.former { handles.append(handle) }
        for version in sent {
            handles.append(version.handle)
            if let base = version.base { handles.append(base) }
        }
        handles += carried.named
        if let pending { handles += pending.named }
        handles.sort()
        return handles.reduce(into: []) { distinct, handle in
            if distinct.last != handle { distinct.append(handle) }
        }
    }
}
