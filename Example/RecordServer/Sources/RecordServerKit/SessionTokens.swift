import Crypto
import Foundation

/// Makes and checks web-auth tokens: a session, a number, and a code that only the server's key can make.
///
/// The session contains its user, so the server stores no tokens; of sessions in use it keeps digests, and only
/// in the strict mode. An actor, since it also remembers which number a session has reached.
actor SessionTokens {
    private let key: SymmetricKey
    private let configuration: ServerConfiguration
    private let fixed: [(digest: SHA256.Digest, user: String)]
    /// In the strict mode, the number that each session must send next, by the session's digest.
    private var expected: [SHA256.Digest: Int] = [:]

    init(key: [UInt8], _ configuration: ServerConfiguration) {
        self.key = SymmetricKey(data: key)
        self.configuration = configuration.withoutTokens
        fixed = configuration.fixedTokens.map { (SHA256.hash(data: Array($0.value.utf8)), $0.key) }
    }

    /// A user who sent a good token, and the token for the next request, if there is another.
    struct Session: Sendable {
        let user: String
        let next: String?
    }

    /// Makes a secret of the key that stays the same, such as the API token.
    nonisolated func secret(_ purpose: String) -> String { code(for: ["secret", purpose]) }

    /// Makes the first token of a session.
    ///
    /// - Parameters:
    ///   - user: The user.
    ///   - name: Distinguishes the user's sessions; `nil` for a new one.
    /// - Returns: The token.
    nonisolated func begin(for user: String, named name: String? = nil) -> String {
        let name = name ?? Data(SymmetricKey(size: .bits128).withUnsafeBytes(Array.init)).base64URL
        return token("\(Data(user.utf8).base64URL)~\(name)", 0)
    }

    /// Checks a token.
    ///
    /// - Parameter token: The token from a request.
    /// - Returns: Its user and the next token; `nil` if it is not good.
    func accept(_ token: String) -> Session? {
        let digest = SHA256.hash(data: Array(token.utf8))
        // Digests are compared in constant time.
        if let found = fixed.first(where: { $0.digest == digest }) {
            return Session(user: found.user, next: nil)
        }
        let parts = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let number = Int(parts[1]), number >= 0, number < .max,
            isCode(parts[2], for: ["token", parts[0], parts[1]]),
            let user = user(of: parts[0]), configuration.users.contains(user)
        else { return nil }
        switch configuration.rotation {
        case .none: return Session(user: user, next: nil)
        case .lenient: break
        case .strict:
            let session = SHA256.hash(data: Array(parts[0].utf8))
            // A server that was started again knows no numbers.
            guard expected[session] ?? number == number else { return nil }
            expected[session] = number + 1
        }
        return Session(user: user, next: self.token(parts[0], number + 1))
    }

    private nonisolated func user(of session: String) -> String? {
        guard let end = session.firstIndex(of: "~"), let data = Data(base64URL: session[..<end]) else {
            return nil
        }
        return String(data: data, encoding: .utf8)
    }

    private nonisolated func token(_ session: String, _ number: Int) -> String {
        "\(session).\(number).\(code(for: ["token", session, String(number)]))"
    }

    // MARK: Codes

    private nonisolated func code(for parts: [String]) -> String {
        Data(HMAC<SHA256>.authenticationCode(for: message(parts), using: key)).base64URL
    }

    private nonisolated func isCode(_ text: String, for parts: [String]) -> Bool {
        guard let code = Data(base64URL: text[...]) else { return false }
        return HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: message(parts), using: key)
    }

    /// Codes of one container and environment are good for no other.
    private nonisolated func message(_ parts: [String]) -> Data {
        let all = [configuration.container, configuration.environment] + parts
        return Data(all.map { "\($0.utf8.count):\($0)" }.joined(separator: "\n").utf8)
    }
}

/// A token of which only the digest is kept.
struct SecretDigest: Sendable {
    private let digest: SHA256.Digest

    init(_ token: String) { digest = SHA256.hash(data: Array(token.utf8)) }

    /// Whether a text is the token, compared in constant time.
    func matches(_ text: String) -> Bool { SHA256.hash(data: Array(text.utf8)) == digest }
}

extension Data {
    /// Base64 without padding, with characters that need no encoding in a URL.
    var base64URL: String {
        base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    init?(base64URL text: Substring) {
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        self.init(base64Encoded: text.replacing("-", with: "+").replacing("_", with: "/") + padding)
    }
}
