import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// A page on which a developer chooses a user, in place of Apple's sign-in.
///
/// On loopback there is no password. Where others can reach the server, the page asks for the administrator's token.
struct SignInRoutes: Sendable {
    private struct Form: Decodable {
        var user: String
        var callback: String?
        var code: String?
    }

    private static let maximumBody = 16 << 10

    let configuration: ServerConfiguration
    let tokens: SessionTokens
    let adminToken: SecretDigest

    func add(to router: Router<ServerContext>) {
        router.get("/sign-in") { request, _ in
            guard let callback = callback(request.query("callback")) else {
                return Response(status: .badRequest)
            }
            return choice(callback)
        }
        router.post("/sign-in") { request, context in
            guard request.isFromOwnPage(of: context) else { return Response(status: .forbidden) }
            guard let body = try await request.body(upTo: Self.maximumBody) else {
                return Response(status: .contentTooLarge)
            }
            return signIn(body)
        }
    }

    private func signIn(_ body: [UInt8]) -> Response {
        let form: Form
        do {
            form = try URLEncodedFormDecoder().decode(Form.self, from: String(decoding: body, as: UTF8.self))
        } catch {
            return Response(status: .badRequest)
        }
        guard configuration.users.contains(form.user), let callback = callback(form.callback) else {
            return Response(status: .badRequest)
        }
        guard configuration.isLoopback || form.code.map(adminToken.matches) == true else {
            return Response(status: .forbidden)
        }
        let token = tokens.begin(for: form.user)
        guard case .url(let url) = callback else {
            return page("<p>Paste this token:</p><p><code>\(token)</code></p>")
        }
        // The characters of tokens need no encoding.
        let separator = url.contains("?") ? "&" : "?"
        let location = "\(url)\(separator)ckWebAuthToken=\(token)"
        return Response(status: .seeOther, headers: Self.headers.with(.location, location))
    }

    private enum Callback {
        case url(String)
        /// There is no registered URL, so the page shows the token.
        case page
    }

    /// Where a sign-in returns to: the URL that the request names, if it is registered, or else the first one.
    ///
    /// - Returns: `nil` for a URL that is not registered.
    private func callback(_ named: String?) -> Callback? {
        guard let named, !named.isEmpty else {
            return configuration.callbacks.first.map(Callback.url) ?? .page
        }
        return configuration.callbacks.contains(named) ? .url(named) : nil
    }

    // MARK: Pages

    private func choice(_ callback: Callback) -> Response {
        var fields = ""
        if case .url(let url) = callback {
            fields += "<input type=\"hidden\" name=\"callback\" value=\"\(Self.escaped(url))\">"
        }
        if !configuration.isLoopback {
            fields += "<p><label>Administrator's token <input type=\"password\" name=\"code\"></label></p>"
        }
        for user in configuration.users {
            let name = Self.escaped(user)
            fields += "<p><button name=\"user\" value=\"\(name)\">\(name)</button></p>"
        }
        let container = Self.escaped(configuration.container)
        return page(
            "<p>Sign in to \(container) as:</p><form method=\"post\" action=\"/sign-in\">\(fields)</form>"
        )
    }

    private func page(_ body: String) -> Response {
        let html =
            "<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\"><title>Record server</title>\(body)</html>"
        return Response(
            status: .ok,
            headers: Self.headers.with(.contentType, "text/html; charset=UTF-8"),
            body: ResponseBody(byteBuffer: ByteBuffer(string: html))
        )
    }

    /// The page runs no script, is in no frame, and leaves no trace of its URL on other sites.
    ///
    /// Without any referrer, browsers would not send the origin of a form.
    private static let headers: HTTPFields = {
        var headers: HTTPFields = [
            .cacheControl: "no-store", .contentSecurityPolicy: "default-src 'none'; frame-ancestors 'none'",
        ]
        if let name = HTTPField.Name("Referrer-Policy") { headers[name] = "same-origin" }
        return headers
    }()

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;").replacing("'", with: "&#39;")
    }
}

extension HTTPFields {
    fileprivate func with(_ name: HTTPField.Name, _ value: String) -> HTTPFields {
        var fields = self
        fields[name] = value
        return fields
    }
}
