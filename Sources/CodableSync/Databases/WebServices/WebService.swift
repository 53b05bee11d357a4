import Foundation

/// The address of CloudKit Web Services for one container.
///
/// [Composing Web Service Requests](https://developer.apple.com/library/archive/documentation/DataManagement/Conceptual/CloudKitWebServicesReference/SettingUpWebServices.html)
struct WebService: Sendable {
    let server: URL
    let container: String
    let environment: CloudKitWebSession.Environment
    let apiToken: String

    /// What identifies the cloud: server, container and environment.
    var identifier: String {
        let host = server.host(percentEncoded: false)?.lowercased() ?? ""
        let port = server.port.map { ":\($0)" } ?? ""
        return "\(host)\(port)/\(container)/\(environment.rawValue)"
    }

    /// Whether a user may enter a password on this page: it is Apple's, or on the server itself.
    func isSignInPage(_ page: URL) -> Bool {
        guard page.isSafeForTokens, let host = page.host(percentEncoded: false)?.lowercased() else {
            return false
        }
        if host == server.host(percentEncoded: false)?.lowercased() { return true }
        return page.scheme?.lowercased() == "https"
            && ["apple.com", "icloud.com", "icloud.com.cn"].contains {
                host == $0 || host.hasSuffix("." + $0)
            }
    }

    /// The address of an operation of the private database.
    func url(of operation: String, token: String?) throws(CloudError) -> URL {
        try url("database", "private/" + operation, token: token)
    }

    /// The address of an operation, with the tokens in its query.
    ///
    /// - Parameters:
    ///   - root: The first part of the path, `database` or `device`.
    ///   - path: What comes behind the environment.
    ///   - token: The user's token; `nil` if nobody is signed in.
    /// - Returns: The address.
    /// - Throws: `badContainer` if no request may be sent to the server.
    func url(_ root: String, _ path: String, token: String?) throws(CloudError) -> URL {
        guard server.isSafeForTokens, server.query == nil, server.fragment == nil, server.user == nil else {
            throw CloudError(
                .badContainer,
                message: "The server of a web session must be reached by https, or be this computer itself."
            )
        }
        var query = "ckAPIToken=" + Self.encoded(apiToken)
        if let token { query += "&ckWebAuthToken=" + Self.encoded(token) }
        let base = server.absoluteString.withoutTrailingSlash
        let text = "\(base)/\(root)/1/\(Self.encoded(container))/\(environment.rawValue)/\(path)?\(query)"
        guard let url = URL(string: text) else {
            throw CloudError(
                .badContainer,
                message: "The server's address or the container's name can't be used."
            )
        }
        return url
    }

    /// Everything but unreserved characters encoded: `URLQueryItem` leaves `+`, which a server reads as a space.
    private static func encoded(_ text: String) -> String {
        text.utf8.reduce(into: "") { encoded, byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                encoded += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
    }
}
