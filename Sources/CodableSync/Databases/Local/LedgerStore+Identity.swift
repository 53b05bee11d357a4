import RecordCoding

/// The identity of the cloud in the directory.
extension LedgerStore {
    /// The result of looking for the cloud's identity.
    enum Identification {
        case known(String)
        /// There is none yet, and another process holds the lock that is needed to make one.
        case waiting(for: Int?)
    }

    /// Returns the cloud's identity, and makes the cloud if the directory is empty.
    func identify(isClosed: Bool) throws -> Identification {
        if let identity { return .known(identity) }
        if isClosed { throw CloudError.directoryClosed }
        if let onDisk = try files.identity() { return known(onDisk) }
        switch try lock() {
        case .held(let processID): return .waiting(for: processID)
        case .acquired(let lock):
            defer { lock.release() }
            let identifier = try ledgerIdentifier()
            // Another process may have been first.
            if let onDisk = try files.identity() { return known(onDisk) }
            // The ledger's own, so that a lost file is made again as it was, unless the log was replaced since.
            try files.write(identity: identifier)
            return known(identifier)
        }
    }

    private func known(_ identity: String) -> Identification {
        self.identity = identity
        return .known(identity)
    }

    /// Checks that the directory is still the cloud whose identity was returned, and names it again if a person has
    /// removed its files.
    func checkIdentity() throws {
        guard let identity else { return }
        guard let onDisk = try files.identity() else { return try files.write(identity: identity) }
        if onDisk == identity { return }
        throw CloudError(
            .badDatabase,
            message: "\"\(files.path.shortenedForMessage)\" is now the cloud \(onDisk.quoted), and this "
                + "process uses the cloud \(identity.quoted), which was there before. Restart it."
        )
    }
}
