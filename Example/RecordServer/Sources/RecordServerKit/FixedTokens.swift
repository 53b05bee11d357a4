import Foundation

/// Tokens that a file sets.
public struct FixedTokens: Decodable, Sendable {
    /// The API token.
    public var apiToken: String?
    /// The administrator's token.
    public var adminToken: String?
    /// Web-auth tokens by user, which never change.
    public var webAuthTokens: [String: String]?

    /// Reads a file.
    ///
    /// - Parameter path: A JSON file that only its owner may read.
    /// - Throws: ``ServerError`` if it can't be used.
    public init(readingFrom path: String) throws(ServerError) {
        let bytes = try SecretFile.read(path)
        do {
            self = try JSONDecoder().decode(FixedTokens.self, from: Data(bytes))
        } catch {
            throw ServerError("\(path) is no JSON file of tokens.")
        }
    }
}
