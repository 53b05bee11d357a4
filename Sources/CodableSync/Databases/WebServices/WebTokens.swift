import Foundation

/// Who is signed in, and with what, as the session's file has it.
struct WebTokens: Codable, Equatable, Sendable {
    /// The name of the format, in the file.
    private static let format = "codablesync-web-session"

    private(set) var format = WebTokens.format
    private(set) var version = 1
    /// What the tokens are for: server, container and environment.
    var identifier: String
    /// The user record name; `nil` if nobody is signed in.
    private(set) var user: String?
    /// The token for the next request.
    private(set) var current: String?
    /// The one before, which is still good if the response with the current one belongs to a request that the server does
    /// not remember.
    private(set) var previous: String?

    init(identifier: String) {
        self.identifier = identifier
    }

    private enum CodingKeys: String, CodingKey {
        case format, version, identifier, user
        case current = "token"
        case previous = "previousToken"
    }

    /// Reads a file.
    ///
    /// - Throws: An error that says what is wrong, without a token.
    init(file bytes: [UInt8], of identifier: String) throws(CloudError) {
        do {
            self = try JSONDecoder().decode(WebTokens.self, from: Data(bytes))
        } catch {
            throw .unusable("it cannot be read")
        }
        if format != Self.format { throw .unusable("it is not a session's file") }
        if version != 1 { throw .unusable("it is of a newer version of the library") }
        if self.identifier != identifier { throw .unusable("it is that of another server or container") }
    }

    /// The bytes for the file.
    func bytes() throws(CloudError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
        do {
            return Array(try encoder.encode(self))
        } catch {
            throw .unusable("it cannot be written")
        }
    }

    /// Notes that somebody has signed in.
    mutating func signIn(_ user: String, _ token: String) {
        (self.user, current, previous) = (user, token, nil)
    }

    /// Notes that nobody is signed in.
    mutating func signOut() {
        (user, current, previous) = (nil, nil, nil)
    }

    /// Takes the token that a response has for the next request, if it is another one.
    ///
    /// - Parameters:
    ///   - token: The token.
    ///   - sent: The one that the request had.
    mutating func rotate(to token: String, after sent: String) {
        guard token != current else { return }
        (current, previous) = (token, sent)
    }
}

extension CloudError {
    fileprivate static func unusable(_ reason: String) -> CloudError {
        CloudError(
            .badDatabase,
            message: "The file of the web session can't be used: \(reason). Remove it, and sign in again."
        )
    }
}
