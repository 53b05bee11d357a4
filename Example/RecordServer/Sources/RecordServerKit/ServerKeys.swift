@_spi(Server) import CodableSync
import Crypto
import Foundation
import HTTPTypes
import Hummingbird

/// Checks the signatures of server-to-server keys.
///
/// A signature is of the date, the digest of the body and the path, so a request can't be changed, and can be repeated
/// only for a short time.
struct ServerKeys: Sendable {
    /// Uncertain: how far the date may be from the server's; ten minutes were reported.
    private static let window: TimeInterval = 600

    private let keys: [String: P256.Signing.PublicKey]

    /// Reads public keys.
    ///
    /// - Parameter texts: The keys as PEM, by their IDs.
    /// - Throws: ``ServerError`` for one that can't be read.
    init(_ texts: [String: String]) throws(ServerError) {
        do {
            keys = try texts.mapValues { try P256.Signing.PublicKey(pemRepresentation: $0) }
        } catch {
            throw ServerError("A server-to-server key is no public P-256 key in PEM.")
        }
    }

    /// What the headers of a request say is wrong with its signature; `nil` if it may be good.
    func objection(to request: Request, at now: Date) -> String? {
        guard let id = request.headers[.keyID], keys[id] != nil else { return "the key ID is not known" }
        guard let text = request.headers[.keyDate], request.headers[.keySignature] != nil else {
            return "the date or the signature is missing"
        }
        do {
            let date = try Date(text, strategy: .iso8601)
            return abs(date.timeIntervalSince(now)) <= Self.window ? nil : "the date is not the current one"
        } catch {
            return "the date is not one of ISO 8601, without fractions of seconds"
        }
    }

    /// Whether the signature is that of the request.
    func isSigned(_ request: Request, _ body: [UInt8]) -> Bool {
        guard let key = request.headers[.keyID].flatMap({ keys[$0] }), let date = request.headers[.keyDate],
            let bytes = request.headers[.keySignature].flatMap({ Data(base64Encoded: $0) })
        else { return false }
        let signature: P256.Signing.ECDSASignature
        do {
            signature = try P256.Signing.ECDSASignature(derRepresentation: bytes)
        } catch {
            return false
        }
        let path = request.head.path ?? ""
        var digests = [Data(SHA256.hash(data: body)).base64EncodedString()]
        // Uncertain, and clients differ: what stands for no body, and whether the query is part of the path.
        if body.isEmpty { digests.append("") }
        for digest in digests {
            for path in [path, String(path.prefix { $0 != "?" })]
            where key.isValidSignature(signature, for: Data("\(date):\(digest):\(path)".utf8)) {
                return true
            }
        }
        return false
    }
}
