import RecordCoding

/// Decoding stored contents for calls.
extension SyncCore {
    /// Counts the latest cloud versions that cannot be decoded, and reports each of them once.
    ///
    /// Versions are decoded after they are stored, so that no model's code runs before the fetch is durable,
    /// and in parts, to save memory.
    func undecodableCount(among versions: [ReadVersion]) async -> Int {
        let began = session
        var count = 0
        do {
            for start in stride(from: 0, to: versions.count, by: 200) {
                let news = versions[start..<min(start + 200, versions.count)].filter(isLastWord)
                let found = try await decode(
                    news.map { ShownContents(name: $0.name, shown: $0.handle) },
                    { [model] in try model.check($0) }
                )
                guard began == session else { return 0 }
                let failures = news.filter(isLastWord).compactMap { version -> ReadVersion? in
                    guard let one = found[named: version.name], one.value == nil else { return nil }
                    return one.failedRead
                }
                tellUndecodable(failures)
                count += failures.count
            }
        } catch {
            reportUnreadable("Can't read fetched records from the disk right now: \(error)")
        }
        // They are reported before the call returns.
        if count > 0 { await wait { $0.isStored || $0.machine == nil } }
        return count
    }

    /// Whether this is the cloud's latest known version; older versions may no longer be on disk.
    private func isLastWord(_ version: ReadVersion) -> Bool {
        machine?.state[version.name]?.known?.handle == version.handle
    }

    /// Reports versions that cannot be decoded, before the call returns that has found them.
    func tellUndecodable(_ failures: [ReadVersion]) {
        if failures.isEmpty { return }
        process(.calls(.decodeFailed(failures)))
        endTurn()
    }

    /// Reports contents that cannot be decoded, once.
    func reportUndecodable<Value>(_ found: [ExactName: DecodedContents<Value>]) {
        let failures = found.sorted { $0.key < $1.key }.compactMap {
            $0.value.value == nil ? $0.value.failedRead : nil
        }
        tellUndecodable(failures)
    }

    /// Loads and decodes contents, in parts.
    ///
    /// - Throws: ``SyncError`` if they cannot be read; `CancellationError` if the task is cancelled.
    func decode<Value: Sendable>(
        _ wanted: [ShownContents],
        _ decode: @escaping Decode<Value>
    ) async throws -> [ExactName: DecodedContents<Value>] {
        guard !wanted.isEmpty else { return [:] }
        guard let files else { throw SyncError.closed }
        do {
            let decoded = try await files.decode(wanted, model, decode)
            return decoded.reduce(into: [:]) { $0[named: $1.contents.name] = $1 }
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw unreadable(error)
        }
    }

    /// The error of a call that could not read its contents from the files.
    func unreadable(_ error: any Error) -> SyncError {
        if case .closed = phase { .closed } else { .storageFailed("\(error)") }
    }
}
