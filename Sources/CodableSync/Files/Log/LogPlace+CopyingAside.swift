extension LogPlace {
    /// Copies a damaged file to another name, unless there is such a copy already.
    ///
    /// - Returns: The copy's name.
    func copyAside(_ name: String, existing: [String]) throws -> String {
        let source = try fileSystem.openFile(at: directory.appending(path: name), for: .reading)
        defer { source.close() }
        var number = 1
        while true {
            let copy = "damaged-\(name)-\(number)"
            if existing.contains(copy) {
                if try isSame(source, directory.appending(path: copy)) { return copy }
            } else {
                try write(source, to: directory.appending(path: copy))
                return copy
            }
            number += 1
        }
    }

    private func isSame(_ source: any OpenFile, _ path: String) throws -> Bool {
        // If another kind of file has the name, the copy gets a different one.
        guard try fileSystem.status(of: path)?.kind == .file else { return false }
        let other = try fileSystem.openFile(at: path, for: .reading)
        defer { other.close() }
        guard try source.size() == other.size() else { return false }
        var offset: UInt64 = 0
        while true {
            let bytes = try source.read(at: offset, count: Self.chunk)
            guard try other.read(at: offset, count: Self.chunk) == bytes else { return false }
            if bytes.isEmpty { return true }
            offset += UInt64(bytes.count)
        }
    }

    private func write(_ source: any OpenFile, to path: String) throws {
        let temporary = path + ".tmp"
        let copy = try fileSystem.openFile(at: temporary, for: .replacing)
        defer { copy.close() }
        var offset: UInt64 = 0
        while true {
            let bytes = try source.read(at: offset, count: Self.chunk)
            if bytes.isEmpty { break }
            try copy.append(bytes)
            offset += UInt64(bytes.count)
        }
        try copy.flush()
        try fileSystem.rename(temporary, to: path)
        try fileSystem.syncDirectory(directory)
    }

    private static let chunk = 1 << 20
}
