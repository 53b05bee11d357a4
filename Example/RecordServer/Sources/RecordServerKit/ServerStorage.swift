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
    /// directory. A copy that was interrupted stays beside the destination, under a name that ends with `.partial`.
    ///
    /// - Parameters:
    ///   - path: The directory of a server.
    ///   - destination: The copy, a directory that does not exist yet.
    /// - Returns: How many bytes it has; they are durable.
    /// - Throws: ``ServerError`` if there is no server's directory, the destination exists, or a file can't be copied.
    public static func backUp(_ path: String, to destination: String) async throws(ServerError) -> UInt64 {
        let destination = URL(filePath: destination).standardizedFileURL.path
        let partial = "\(destination).\(String(UInt64.random(in: 0 ... .max), radix: 36)).partial"
        guard FileManager.default.fileExists(atPath: "\(path)/key") else {
            throw ServerError("\(path) is not the directory of a record server: it has no key.")
        }
        guard !FileManager.default.fileExists(atPath: destination) else {
            throw ServerError("\(destination) exists. Choose a new name for each backup.")
        }
        let key = try SecretFile.read("\(path)/key")
        do {
            try FileManager.default.createDirectory(
                atPath: partial,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
            _ = try SecretFile.read("\(partial)/key", orCreateWith: { key })
            let ledger = LedgerDirectory(path: "\(path)/cloud", options: .webServices)
            let count = try await ledger.backUp(to: "\(partial)/cloud")
            await ledger.close()
            // Whoever finds the name finds all of it.
            try FileManager.default.moveItem(atPath: partial, toPath: destination)
            return count + UInt64(key.count)
        } catch let error as ServerError {
            throw error
        } catch let error as CloudError {
            throw ServerError("Can't back up \(path): \(error.message)")
        } catch {
            throw ServerError("Can't write \(destination): \(error.localizedDescription)")
        }
    }

    private static func newKey() -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<keyLength).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }
}
