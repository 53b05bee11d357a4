/// The file of a session, which one session at a time may use.
///
/// Its tokens are as good as a password: the file is readable for its owner only, and no link is followed.
final class WebTokenFile: Sendable {
    let path: String
    private let fileSystem: any FileSystem
    private let lock = Locked<(any FileLock)?>(nil)

    init(path: String, fileSystem: any FileSystem) {
        self.path = path
        self.fileSystem = fileSystem
    }

    deinit { close() }

    /// Locks the file, and reads it.
    ///
    /// - Parameter identifier: What the tokens must be for.
    /// - Returns: The tokens; those of nobody if there is no file yet.
    /// - Throws: `badDatabase` if another session uses the file, or it cannot be read.
    func open(for identifier: String) throws(CloudError) -> WebTokens {
        let (bytes, isPrivate): ([UInt8], Bool)
        do throws(FileError) {
            try fileSystem.createDirectory(at: path.directoryPath)
            try takeLock()
            guard let status = try fileSystem.status(of: path) else {
                return WebTokens(identifier: identifier)
            }
            (bytes, isPrivate) = (try fileSystem.readFile(path, atMost: 1 << 16), status.isPrivate)
        } catch {
            throw CloudError(ofSessionFile: error)
        }
        let tokens = try WebTokens(file: bytes, of: identifier)
        // Such as a copy, which is readable for others by default.
        if !isPrivate { try store(tokens) }
        return tokens
    }

    private func takeLock() throws(FileError) {
        try lock.withLock { lock throws(FileError) in
            guard lock == nil else { return }
            switch try fileSystem.lock(path + ".lock") {
            case .acquired(let taken): lock = taken
            case .held(let processID):
                let owner = processID.map { "process \($0)" } ?? "another process"
                throw FileError(
                    .lock,
                    path,
                    code: 0,
                    reason: "A session of \(owner) uses it; one session serves all engines of one process"
                )
            }
        }
    }

    /// Writes the tokens, flushed, in place of those before.
    func store(_ tokens: WebTokens) throws(CloudError) {
        let bytes = try tokens.bytes()
        do throws(FileError) {
            // Left by another program, which may have it open: what is written to it could be read by others.
            let new = path + ".tmp"
            if try fileSystem.status(of: new)?.isPrivate == false { try fileSystem.remove(new) }
            try fileSystem.writeAtomically(bytes, to: path)
        } catch {
            throw CloudError(ofSessionFile: error)
        }
    }

    /// Lets another session use the file.
    func close() {
        lock.withLock { lock in
            defer { lock = nil }
            return lock
        }?.release()
    }
}

extension CloudError {
    /// Converts an error of a session's file.
    fileprivate init(ofSessionFile error: FileError) {
        // A disk that is full or locked may be usable again later.
        self.init(
            error.isOfThePath || error.code == 0 ? .badDatabase : .serviceUnavailable,
            message: error.message
        )
    }
}
