import CodableSync
import Foundation

/// Where the cloud is.
enum Cloud: Sendable {
    /// A directory that plays the cloud, and whether the command line names it.
    case directory(URL, isGiven: Bool)
    /// A server that speaks CloudKit's web protocol.
    case server(WebServer)

    /// The path or the address, for people.
    var place: String {
        switch self {
        case .directory(let directory, _): directory.path
        case .server(let server): server.url.absoluteString
        }
    }

    /// An error with the server's address, where that may be the mistake.
    ///
    /// The library leaves addresses out of its messages, since its requests have tokens in theirs.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - isSigningIn: Whether a sign-in has failed, whose error says why.
    /// - Returns: The error to show.
    func naming(_ error: any Error, isSigningIn: Bool = false) -> any Error {
        guard case .server = self else { return error }
        let cloudError = (error as? SyncError)?.cloudError ?? error as? CloudError
        switch cloudError?.code {
        case .notAuthenticated where !isSigningIn:
            return Failure(
                .unavailable,
                "nobody is signed in to \(place.shown) on this device; run 'landmarks sign-in' with the same --cloud"
            )
        case .notAuthenticated, .networkFailure, .networkUnavailable:
            return Failure(.unavailable, "\(Failure(error).message) The server is \(place.shown).")
        default: return error
        }
    }
}

/// A server that speaks CloudKit's web protocol, such as `record-server` or Apple's.
///
/// Tokens come from the environment or from files: other users of a computer can see arguments.
struct WebServer: Sendable {
    let url: URL
    private let container: String
    private let environment: CloudKitWebSession.Environment
    private let apiToken: String

    /// Reads the value of `--cloud`; `nil` if it is no address.
    ///
    /// - Parameters:
    ///   - text: The value.
    ///   - variables: The environment.
    /// - Throws: ``Failure``: usage, if the address or a variable can't be used.
    init?(_ text: String, in variables: Environment = .current) throws {
        guard text.hasPrefix("http://") || text.hasPrefix("https://") else {
            if Self.looksLikeAnAddress(text) {
                throw Failure(
                    .usage,
                    "'\(text.shown)' is no directory, and a server's address begins with http:// or https://"
                )
            }
            return nil
        }
        guard let url = URL(string: text), url.host != nil, url.query == nil, url.user == nil else {
            throw Failure(.usage, "'\(text.shown)' is not the address of a server")
        }
        self.url = url
        container = try variables.text("LANDMARKS_CONTAINER") ?? "iCloud.local"
        let name = try variables.text("LANDMARKS_ENVIRONMENT") ?? "development"
        guard let environment = CloudKitWebSession.Environment(rawValue: name) else {
            throw Failure(.usage, "LANDMARKS_ENVIRONMENT is development or production, not '\(name.shown)'")
        }
        self.environment = environment
        guard let token = try variables.secret("LANDMARKS_API_TOKEN") else {
            throw Failure(
                .usage,
                "the server needs an API token: set LANDMARKS_API_TOKEN to it, or LANDMARKS_API_TOKEN_FILE to the path "
                    + "of a file with it"
            )
        }
        apiToken = token
    }

    /// Whether a text that names no file was meant as an address: `ftp://x`, `127.0.0.1:8080` or `localhost:8080`.
    private static func looksLikeAnAddress(_ text: String) -> Bool {
        guard !FileManager.default.fileExists(atPath: text) else { return false }
        return text.contains("://") || text.wholeMatch(of: /[A-Za-z0-9.\-]+:[0-9]{1,5}\/?/) != nil
    }

    /// Distinguishes servers and containers in names of files.
    var identifier: String { "\(url.absoluteString) \(container) \(environment.rawValue)" }

    func session(file: URL) -> CloudKitWebSession {
        CloudKitWebSession(
            container: container,
            apiToken: apiToken,
            environment: environment,
            server: url,
            file: file
        )
    }
}

extension Environment {
    /// A variable's text; `nil` if it isn't set, or is empty.
    ///
    /// - Parameter name: The variable's name.
    /// - Returns: The text.
    /// - Throws: ``Failure``: usage, if it is not UTF-8.
    func text(_ name: String) throws -> String? {
        guard let bytes = variable(name), !bytes.isEmpty else { return nil }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(.usage, "the environment variable \(name) is not UTF-8")
        }
        return text
    }

    /// A token in a variable, or in the file that the variable with `_FILE` behind its name has the path of.
    func secret(_ name: String) throws -> String? {
        if let text = try text(name) { return text.trimmingCharacters(in: .whitespacesAndNewlines) }
        guard let path = try text(name + "_FILE") else { return nil }
        let bytes = try InputFile(path, rawArguments: []).readSecret()
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(.badData, "the file of \(name)_FILE, '\(path.shown)', isn't text")
        }
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
