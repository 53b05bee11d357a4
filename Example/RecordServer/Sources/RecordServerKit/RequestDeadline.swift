import NIOCore
import NIOHTTPTypes

/// Closes a connection whose request doesn't arrive in time, or that waits too long for the next one.
final class RequestDeadline: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private enum Reading { case nothing, headers, body }

    private let limits: ServerConfiguration.Limits
    private var timer: Scheduled<Void>?
    /// What is being read; at first the headers, whether or not anything has come.
    private var reading = Reading.headers
    /// How many requests are not answered yet.
    private var unanswered = 0

    init(_ limits: ServerConfiguration.Limits) { self.limits = limits }

    func handlerAdded(context: ChannelHandlerContext) {
        do {
            // Where bytes come in, since the parts of a request tell nothing of headers that are not complete.
            try context.pipeline.syncOperations.addHandler(ArrivalNotice(), position: .first)
        } catch {
            context.close(promise: nil)
        }
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

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event is ArrivalNotice.BytesArrived else { return context.fireUserInboundEventTriggered(event) }
        guard reading == .nothing else { return }
        reading = .headers
        start(limits.headerSeconds, context)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            reading = .body
            unanswered += 1
            start(limits.bodySeconds, context)
        case .body: break
        case .end:
            reading = .nothing
            timer?.cancel()
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) {
            unanswered = max(0, unanswered - 1)
            // An answer may come before the end of its request, whose time goes on.
            if reading == .nothing, unanswered == 0 { start(limits.idleSeconds, context) }
        }
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

/// Tells the other handlers of a connection that bytes have arrived.
private final class ArrivalNotice: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    struct BytesArrived {}

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.fireUserInboundEventTriggered(BytesArrived())
        context.fireChannelRead(data)
    }
}
