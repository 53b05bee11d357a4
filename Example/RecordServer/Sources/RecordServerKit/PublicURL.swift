import Foundation

/// The address at which a proxy makes a server reachable, such as `https://cloud.example.org`.
public struct PublicURL: Hashable, Sendable {
    /// Scheme, host and port, as browsers send them.
    public let origin: String
    let host: String

    /// Reads an address.
    ///
    /// - Parameter text: A URL with `https` or `http`, a host and perhaps a port.
    /// - Throws: ``ServerError`` for anything else.
    public init(_ text: String) throws(ServerError) {
        guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
            let host = parts.encodedHost?.lowercased(), Self.isPlain(host),
            let port = ["https": 443, "http": 80][scheme], ["", "/"].contains(parts.path),
            parts.user == nil, parts.password == nil, parts.query == nil, parts.fragment == nil
        else {
            throw ServerError(
                "The public URL is like https://cloud.example.org: a scheme, a host in ASCII, perhaps a port, no path."
            )
        }
        self.host = host
        let named = parts.port.flatMap { $0 == port ? nil : ":\($0)" }
        origin = "\(scheme)://\(host)\(named ?? "")"
    }

    private static func isPlain(_ host: String) -> Bool {
        !host.isEmpty
            && host.unicodeScalars.allSatisfy {
                $0.isASCII && ($0.properties.isAlphabetic || "0123456789-._:[]".unicodeScalars.contains($0))
            }
    }
}
