extension RecordState {
    /// The highest number of a handle that the record names; 0 if there is none.
    var highestHandle: UInt64 {
        var highest = max(server.version?.handle.number ?? 0, kept?.version.handle.number ?? 0)
        highest = max(highest, undelivered?.kind.handle?.number ?? 0, undelivered?.former?.number ?? 0)
        for version in sent { highest = max(highest, version.handle.number, version.base?.number ?? 0) }
        for handle in carried.named { highest = max(highest, handle.number) }
        for handle in pending?.named ?? [] { highest = max(highest, handle.number) }
        return highest
    }

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
