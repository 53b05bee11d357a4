extension RecordState {
    /// The contents that the record needs, in order.
    package var handles: [ContentHandle] {
        var handles: [ContentHandle] = []
        forEachHandle { handles.append($0) }
        handles.sort()
        return handles.reduce(into: []) { distinct, handle in
            if distinct.last != handle { distinct.append(handle) }
        }
    }

    /// The highest number of a handle that the record names; 0 if there is none.
    var highestHandle: UInt64 {
        var highest: UInt64 = 0
        forEachHandle { highest = max(highest, $0.number) }
        return highest
    }

    /// Visits every handle that the record names, some of them more than once.
    private func forEachHandle(_ visit: (ContentHandle) -> Void) {
        if let handle = lastKnown?.handle { visit(handle) }
        if let handle = kept?.handle { visit(handle) }
        if let handle = server.deleted { visit(handle) }
        for version in sent {
            visit(version.handle)
            if let base = version.base { visit(base) }
        }
        carried.named.forEach(visit)
        pending?.named.forEach(visit)
    }
}
