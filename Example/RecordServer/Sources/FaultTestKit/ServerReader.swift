import CodableSync
import Foundation
import RecordCoding

/// Reads what a server has, as a device that has just signed in.
public struct ServerReader: Sendable {
    /// Where the server is.
    public var server: URL
    /// The container's API token.
    public var apiToken: String
    /// The user's token.
    public var webToken: String

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - server: Where the server is.
    ///   - apiToken: The container's API token.
    ///   - webToken: The user's token.
    public init(server: URL, apiToken: String, webToken: String) {
        self.server = server
        self.apiToken = apiToken
        self.webToken = webToken
    }

    /// Reads all records of the runs' zone.
    ///
    /// - Parameter file: Where they go, as JSON, sorted by name.
    /// - Throws: An error of the network or the file.
    public func read(to file: URL) async throws {
        let tokens = FileManager.default.temporaryDirectory.appending(
            path: "fault-test-\(UUID().uuidString).json"
        )
        let session = CloudKitWebSession(
            container: "iCloud.local",
            apiToken: apiToken,
            server: server,
            file: tokens
        )
        try await session.signIn { _ in webToken }
        let database = CloudKitWebDatabase.cloudKitWeb(session)
        var items: [String: ClientDump.Item] = [:]
        var (token, isMore): (ChangeToken?, Bool) = (nil, true)
        let decoder = RecordDecoder()
        while isMore {
            let page = try await database.recordZoneChanges(
                inZoneWith: ZoneID(zoneName: Entry.recordType),
                since: token,
                desiredKeys: nil,
                resultsLimit: nil
            )
            for (id, result) in page.modifications {
                items[id.recordName] = .init(try decoder.decode(Entry.self, from: result.get()))
            }
            for deletion in page.deletions { items[deletion.recordID.recordName] = nil }
            (token, isMore) = (page.changeToken, page.moreComing)
        }
        await session.close()
        for suffix in ["", ".lock"] where FileManager.default.fileExists(atPath: tokens.path + suffix) {
            try FileManager.default.removeItem(atPath: tokens.path + suffix)
        }
        let sorted = items.values.sorted { $0.id < $1.id }
        try JSONEncoder().encode(sorted).write(to: file, options: .atomic)
    }
}
