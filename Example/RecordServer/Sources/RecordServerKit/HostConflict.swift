import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// Refuses a request that names two hosts with 400, and closes its connection: a proxy may have looked at the other one.
final class HostConflict: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart

    func handlerAdded(context: ChannelHandlerContext) {
        let pipeline = context.pipeline.syncOperations
        do {
            // Behind the conversion, only the first header is left, and of the target only the path.
            let conversion = try pipeline.handler(type: HTTP1ToHTTPServerCodec.self)
            try pipeline.addHandler(HostComparison(), position: .before(conversion))
        } catch {
            context.close(promise: nil)
        }
    }
}

private final class HostComparison: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    private var isRefused = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isRefused { return }
        if case .head(let head) = unwrapInboundIn(data), Self.hasConflict(head) {
            isRefused = true
            // It is answered like a request that can't be parsed.
            return context.fireErrorCaught(HTTPParserError.invalidHeaderToken)
        }
        context.fireChannelRead(data)
    }

    private static func hasConflict(_ head: HTTPRequestHead) -> Bool {
        let hosts = head.headers["host"]
        guard hosts.count <= 1 else { return true }
        if head.uri.hasPrefix("/") || head.uri == "*" { return false }
        // The other form is that for proxies, such as http://localhost/health.
        let parts = head.uri.split(separator: "://", maxSplits: 1)
        guard parts.count == 2 else { return true }
        let authority = parts[1].prefix { !"/?#".contains($0) }
        return authority.lowercased() != hosts.first?.lowercased()
    }
}
