import Dispatch

extension LedgerDirectory {
    /// Copies the ledger into another directory, while this process and others use it.
    ///
    /// The copy has every request that returned before this call, and each later one either whole or not at all. To
    /// restore it, put its files in place of the directory's; see ``LocalDatabase`` for what devices do then.
    /// Other requests wait only while the names and sizes of the files are read; compactions wait until the copy is
    /// complete. Of a directory without a cloud, the copy is an empty directory.
    ///
    /// - Parameter destination: A directory that is missing or empty. After an error, it may have a part of the copy.
    /// - Returns: How many bytes were copied; they are durable.
    /// - Throws: ``CloudError`` if the directory is no cloud's, the destination has something in it, the copy has a line
    ///   that can't be read, or another process has held a lock for 20 seconds.
    @discardableResult
    public func backUp(to destination: String) async throws(CloudError) -> UInt64 {
        do {
            let copy = LedgerFiles(path: destination, fileSystem: store.files.fileSystem)
            // Locks would create the directory. The file of the identity is made first, and stays.
            guard try store.files.hasCloud() else { return try copy.write([]) }
            // Without compactions, files are only appended to.
            let compaction = try await acquire { [files = store.files] in
                try files.fileSystem.lock(files.compactionLockPath)
            }
            defer { compaction.release() }
            let lock = try await acquire { [files = store.files] in
                let outcome = try files.lock()
                if case .held = outcome { files.wantLock() } else { files.forgetLockWanted() }
                return outcome
            }
            let parts = Result { try store.files.parts() }
            lock.release()
            return try await withCheckedThrowingContinuation { continuation in
                DispatchQueue.global().async {
                    continuation.resume(with: Result { try copy.write(try parts.get()) })
                }
            }
        } catch let error as LogError {
            let cause = CloudError(ofFiles: error)
            let message = "\"\(path.shortenedForMessage)\" is damaged, and so is this copy: \(cause.message)"
            throw CloudError(cause.code, message: message)
        } catch {
            throw CloudError(ofFiles: error)
        }
    }

    /// Takes a lock, for which it waits as long as a request does.
    private func acquire(_ take: () throws -> LockOutcome) async throws -> any FileLock {
        let deadline = clock.now.monotonic + lockTimeout
        while true {
            switch try take() {
            case .acquired(let lock):
                return lock
            case .held(let processID):
                let now = clock.now.monotonic
                if now >= deadline {
                    let message =
                        "\"\(path.shortenedForMessage)\" has been locked for more than \(lockTimeout.components.seconds) "
                        + "seconds by \(lockHolder(processID)), which compacts it, makes another copy, or is stopped. Nothing was "
                        + "copied; try again later."
                    throw CloudError(.serviceUnavailable, message: message)
                }
                do {
                    try await clock.sleep(until: now + .milliseconds(10))
                } catch {
                    throw CloudError(
                        .operationCancelled,
                        message: "The copy was cancelled; nothing was copied."
                    )
                }
            }
        }
    }
}

extension LedgerFiles {
    /// A file and how much of it belongs to the copy; what comes behind it was appended later.
    struct Part: Sendable {
        var name: String
        var file: any OpenFile
        var size: UInt64
    }

    private static let chunk = 1 << 20

    /// Whether there is a cloud, by the names of its files.
    ///
    /// - Throws: ``FileError``, or ``CloudError`` if there is something else.
    fileprivate func hasCloud() throws -> Bool {
        try checkContents()
        guard try fileSystem.status(of: path) != nil else { return false }
        return try fileSystem.contents(ofDirectory: path).contains(where: Self.isOfCloud)
    }

    /// Opens what a copy needs; the lock must be held, so that no group of lines is cut.
    fileprivate func parts() throws -> [Part] {
        let names = try fileSystem.contents(ofDirectory: path).filter(Self.isOfCloud)
        var parts: [Part] = []
        do {
            for name in names {
                let file = try fileSystem.openFile(at: path.appending(path: name), for: .reading)
                parts.append(Part(name: name, file: file, size: 0))
                parts[parts.count - 1].size = try file.size()
            }
        } catch {
            for part in parts { part.file.close() }
            throw error
        }
        return parts
    }

    /// Copies files into this directory, and reads the copy once.
    fileprivate func write(_ parts: [Part]) throws -> UInt64 {
        defer { for part in parts { part.file.close() } }
        try fileSystem.createDirectory(at: path)
        if let name = try fileSystem.contents(ofDirectory: path).first {
            throw CloudError(
                .badDatabase,
                message: "\"\(path.shortenedForMessage)\" contains \(name.quoted). Use an empty directory."
            )
        }
        var total: UInt64 = 0
        for part in parts {
            let copy = try fileSystem.openFile(at: path.appending(path: part.name), for: .replacing)
            defer { copy.close() }
            var offset: UInt64 = 0
            while offset < part.size {
                let bytes = try part.file.read(
                    at: offset,
                    count: Int(min(UInt64(Self.chunk), part.size - offset))
                )
                // Only another program shortens a file; reading the copy says what is missing.
                if bytes.isEmpty { break }
                try copy.append(bytes)
                offset += UInt64(bytes.count)
            }
            try copy.flush()
            total += offset
        }
        try fileSystem.syncDirectory(path)
        _ = try JSONLog.read(
            in: path,
            fileSystem,
            format: Self.format,
            versions: Self.version...Self.version,
            isShared: true
        ) { _, _ in }
        return total
    }
}
