import NIOCore
import NIOHTTPTypes

/// Closes a connection whose request doesn't arrive in time, or that waits too long for the next one.
final class RequestDeadline: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let limits: ServerConfiguration.Limits
    private var timer: Scheduled<Void>?
    private var isReading = false

    init(_ limits: ServerConfiguration.Limits) { self.limits = limits }

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { start(limits.headerSeconds, context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        start(limits.headerSeconds, context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            isReading = true
            start(limits.bodySeconds, context)
        case .body: break
        case .end:
            isReading = false
            timer?.cancel()
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        // An answer may come before the end of its request, whose time goes on.
        if case .end = unwrapOutboundIn(data), !isReading { start(limits.idleSeconds, context) }
        context.write(data, promise: promise)
    }

    private func start(_ seconds: Double, _ context: ChannelHandlerContext) {
        timer?.cancel()
        let time = TimeAmount.milliseconds(Int64(seconds * 1000))
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: time) {
            context.close(promise: nil)
        }
    }
}
