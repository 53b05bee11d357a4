@_spi(Server) public import CodableSync
import Foundation

/// What a server keeps: a ledger, and the key of its tokens.
public struct ServerStorage: Sendable {
    /// The ledger.
    @_spi(Server) public let ledger: any LedgerStorage
    /// The key of the server's tokens.
    public let key: [UInt8]

    private static let keyLength = 32

    /// Keeps everything in memory, so that nothing is left after the server ends, not even its tokens.
    public static func memory() -> ServerStorage {
        let key = newKey()
        let identifier = String(UInt64.random(in: 0 ... .max), radix: 36)
        let ledger = CloudLedger(identifier: identifier, options: .webServices)
        return ServerStorage(ledger: LedgerMemory(ledger), key: key)
    }

    /// Keeps the ledger in the folder `cloud` of a directory, and the key in the file `key`, which only the owner may
    /// read.
    ///
    /// - Parameter path: The directory, which is created if it is missing.
    /// - Returns: The storage.
    /// - Throws: ``ServerError`` if the directory can't be made, or the key can't be used.
    public static func directory(_ path: String) throws(ServerError) -> ServerStorage {
        do {
            try FileManager.default.createDirectory(
                atPath: path,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw ServerError("Can't create \(path): \(error.localizedDescription)")
        }
        let key = try SecretFile.read("\(path)/key", orCreateWith: newKey)
        guard key.count == keyLength else {
            throw ServerError("\(path)/key is not the key of a record server.")
        }
        return ServerStorage(ledger: LedgerDirectory(path: "\(path)/cloud", options: .webServices), key: key)
    }

    /// Copies a server's directory, also while the server runs.
    ///
    /// Every request that the server has answered before is in the copy. To restore it, put it in place of the
    /// directory. Until it is complete, it has a name that ends with `.partial`; if this process is killed, that stays.
    ///
    /// - Parameters:
    ///   - path: The directory of a server, which has the same user as this process.
    ///   - destination: The copy, a directory that does not exist yet, outside the server's.
    /// - Returns: How many bytes it has; they are durable.
    /// - Throws: ``ServerError`` if there is no server's directory, it belongs to another user, the destination exists or
    ///   is in it, or a file can't be copied.
    public static func backUp(_ path: String, to destination: String) async throws(ServerError) -> UInt64 {
        let (source, copy) = try places(path, destination)
        let key = try SecretFile.read("\(source)/key", ofOwnUser: true)
        guard key.count == keyLength else {
            throw ServerError("\(path)/key is not the key of a record server.")
        }
        let partial = "\(copy).\(String(UInt64.random(in: 0 ... .max), radix: 36)).partial"
        do {
            try FileManager.default.createDirectory(
                atPath: partial,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
            let count = try await fill(partial, source, key)
            // Whoever finds the name finds all of it.
            try FileManager.default.moveItem(atPath: partial, toPath: copy)
            try SecretFile.flushNames(in: URL(filePath: copy).deletingLastPathComponent().path)
            return count
        } catch {
            let reason = (error as? ServerError)?.description ?? error.localizedDescription
            guard FileManager.default.fileExists(atPath: partial) else {
                throw ServerError("Can't write \(destination): \(reason)")
            }
            do {
                try FileManager.default.removeItem(atPath: partial)
            } catch {
                throw ServerError("\(reason) \(partial) has a part of the copy; remove it.")
            }
            throw ServerError(reason)
        }
    }

    /// Checks where a copy is made of what, without looking into the files.
    private static func places(
        _ path: String,
        _ destination: String
    ) throws(ServerError) -> (source: String, copy: String) {
        let manager = FileManager.default
        func plain(_ path: String) -> String {
            let whole = path.hasPrefix("/") ? path : "\(manager.currentDirectoryPath)/\(path)"
            return URL(filePath: whole).standardizedFileURL.path
        }
        let (source, copy) = (plain(path), plain(destination))
        guard manager.fileExists(atPath: "\(source)/key") else {
            throw ServerError("\(path) is not the directory of a record server: it has no key.")
        }
        guard !manager.fileExists(atPath: copy) else {
            throw ServerError("\(destination) exists. Choose a new name for each backup.")
        }
        guard !copy.hasPrefix("\(source)/") else {
            throw ServerError("\(destination) is in the directory of the server. Choose a place outside.")
        }
        return (source, copy)
    }

    private static func fill(
        _ partial: String,
        _ source: String,
        _ key: [UInt8]
    ) async throws(ServerError) -> UInt64 {
        _ = try SecretFile.read("\(partial)/key", orCreateWith: { key })
        let ledger = LedgerDirectory(path: "\(source)/cloud", options: .webServices)
        do throws(CloudError) {
            let count = try await ledger.backUp(to: "\(partial)/cloud")
            await ledger.close()
            return count + UInt64(key.count)
        } catch {
            throw ServerError("Can't back up \(source): \(error.message)")
        }
    }

    private static func newKey() -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<keyLength).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }
}
