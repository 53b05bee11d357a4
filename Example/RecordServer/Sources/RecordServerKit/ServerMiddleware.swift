@_spi(Server) import CodableSync
import Foundation
import HTTPTypes
import Hummingbird
import Logging

/// Logs the method, the template of the path and the status: no token, no name and no address.
struct RequestLog: RouterMiddleware {
    let logger: Logger
    /// Gets the requests of clients, for the dashboard.
    let news: ServerNews

    func handle(
        _ request: Request,
        context: ServerContext,
        next: (Request, ServerContext) async throws -> Response
    ) async throws -> Response {
        let response = try await next(request, context)
        let template = context.endpointPath ?? "(no such path)"
        logger.info("\(LogText(request.method.rawValue)) \(LogText(template)) \(response.status.code)")
        if !template.hasPrefix("/dashboard"), template != "/" {
            await news.note(
                ServerNews.Request(
                    date: Date().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)),
                    method: LogText(request.method.rawValue).description,
                    path: LogText(template).description,
                    status: response.status.code,
                    user: context.userName
                )
            )
        }
        return response
    }
}

/// Text from outside for a log: control characters are escaped, and it has at most 80 characters.
struct LogText: CustomStringConvertible {
    let description: String

    init(_ text: String) {
        var line = ""
        for scalar in text.unicodeScalars.prefix(80) {
            let isPlain =
                scalar.properties.generalCategory != .control && scalar.properties.generalCategory != .format
            line += isPlain ? String(scalar) : scalar.escaped(asASCII: true)
        }
        description = String(line.prefix(80))
    }
}

/// Refuses names that are not the server's, through which a web page could reach it in a user's browser, and finds out
/// the address by which the client knows it.
struct HostCheck: RouterMiddleware {
    private let hostNames: Set<String>
    private let publicURL: PublicURL?

    init(_ configuration: ServerConfiguration) {
        publicURL = configuration.publicURL
        let names = ["localhost", "127.0.0.1", "[::1]"] + configuration.hostNames
        hostNames = Set((names + [publicURL?.host].compactMap { $0 }).map { $0.lowercased() })
    }

    func handle(
        _ request: Request,
        context: ServerContext,
        next: (Request, ServerContext) async throws -> Response
    ) async throws -> Response {
        guard let authority = request.head.authority, hostNames.contains(Self.name(authority)) else {
            return Response(status: .misdirectedRequest)
        }
        var context = context
        context.origin = "http://\(authority)"
        // A proxy may leave out its port.
        if let publicURL, publicURL.host == Self.name(authority) { context.origin = publicURL.origin }
        return try await next(request, context)
    }

    /// The name without the port.
    private static func name(_ authority: String) -> String {
        let name = authority.lowercased()
        guard let colon = name.lastIndex(of: ":"), name[colon...].dropFirst().allSatisfy(\.isNumber) else {
            return name
        }
        return String(name[..<colon])
    }
}

/// Refuses compressed requests, whose size would not be known.
struct EncodingCheck: RouterMiddleware {
    func handle(
        _ request: Request,
        context: ServerContext,
        next: (Request, ServerContext) async throws -> Response
    ) async throws -> Response {
        let encodings = request.headers[values: .contentEncoding] + request.headers[values: .transferEncoding]
        guard encodings.allSatisfy({ ["identity", "chunked"].contains($0.lowercased()) }) else {
            return RecordService.Answer.refusal(
                status: 415,
                code: "BAD_REQUEST",
                reason: "send the body without compression"
            ).response()
        }
        return try await next(request, context)
    }
}

extension RecordService.Answer {
    /// The answer as HTTP.
    func response() -> Response {
        var response = Response(
            status: HTTPResponse.Status(code: status),
            headers: [.cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: body))
        )
        if !body.isEmpty { response.headers[.contentType] = "application/json; charset=UTF-8" }
        if let retryAfter { response.headers[.retryAfter] = String(retryAfter) }
        return response
    }
}

extension RecordService.Answer {
    private struct Cut: Error {}

    /// The answer as HTTP, whose connection is closed in the middle of the body.
    func cutResponse() -> Response {
        var response = response()
        let half = body.prefix(body.count / 2)
        response.body = ResponseBody(contentLength: body.count) { writer in
            try await writer.write(ByteBuffer(bytes: half))
            throw Cut()
        }
        return response
    }
}

extension Request {
    /// Whether the request is from no page of another site; other programs send no origin.
    func isFromOwnPage(of context: ServerContext) -> Bool {
        headers[.origin].map { $0 == context.origin } ?? true
    }

    /// The value of a query item; `nil` if there is none, or it is empty.
    func query(_ name: Substring) -> String? {
        guard let value = uri.queryParameters[name], !value.isEmpty else { return nil }
        return String(value)
    }
}
