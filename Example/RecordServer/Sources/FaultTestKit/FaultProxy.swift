import Foundation
import NIOCore
import NIOPosix

/// A TCP proxy on loopback, one for each client, whose directions can be cut.
///
/// What is sent into a cut direction is held and arrives later, as on a network that comes back.
public final class FaultProxy: Sendable {
    /// A direction.
    public enum Direction: Sendable, CaseIterable {
        /// From the client to the server.
        case requests
        /// From the server to the client.
        case responses
    }

    private let cuts = NIOLockedCuts()
    private let channel: any Channel

    /// The port on which it listens.
    public let port: Int

    /// Listens on a port that the system chooses.
    ///
    /// - Parameters:
    ///   - group: The threads.
    ///   - address: The address to listen on.
    ///   - port: The port to listen on; 0 leaves it to the system.
    ///   - server: The server's address and port.
    /// - Throws: An error of the network.
    public init(
        on group: any EventLoopGroup,
        address: String = "127.0.0.1",
        port: Int = 0,
        to server: (address: String, port: Int)
    ) async throws {
        let cuts = cuts
        channel = try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 64)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { client in
                let there = ClientBootstrap(group: client.eventLoop)
                    .channelInitializer { upstream in
                        upstream.eventLoop.makeCompletedFuture {
                            try upstream.pipeline.syncOperations.addHandler(
                                Pump(.responses, cuts, to: client)
                            )
                        }
                    }
                    .connect(host: server.address, port: server.port)
                return there.flatMapThrowing { upstream in
                    try client.pipeline.syncOperations.addHandler(Pump(.requests, cuts, to: upstream))
                }
            }
            .bind(host: address, port: port).get()
        self.port = channel.localAddress?.port ?? 0
    }

    /// Passes connections on until the process ends.
    ///
    /// - Parameters:
    ///   - from: The address and port to listen on, such as `127.0.0.1:80`.
    ///   - to: The address and port of the server.
    /// - Throws: An error of the network.
    public static func forward(from: String, to: String) async throws {
        let ends = [from, to].map { $0.split(separator: ":") }
        guard ends.allSatisfy({ $0.count == 2 }), let port = Int(ends[0][1]), let serverPort = Int(ends[1][1])
        else {
            throw FaultRunError("An end has the form ADDRESS:PORT.")
        }
        let proxy = try await FaultProxy(
            on: MultiThreadedEventLoopGroup.singleton,
            address: String(ends[0][0]),
            port: port,
            to: (String(ends[1][0]), serverPort)
        )
        try await proxy.channel.closeFuture.get()
    }

    /// Cuts or restores a direction, for connections that exist and for later ones.
    ///
    /// - Parameters:
    ///   - direction: The direction.
    ///   - isCut: Whether it is cut.
    public func set(_ direction: Direction, isCut: Bool) { cuts.set(direction, isCut) }

    /// Stops listening.
    ///
    /// - Throws: An error of the network.
    public func close() async throws { try await channel.close().get() }
}

/// Which directions are cut, and who waits for their end.
private final class NIOLockedCuts: @unchecked Sendable {
    // `@unchecked Sendable` holds because the lock guards all that changes.
    private let lock = NSLock()
    private var cut: Set<FaultProxy.Direction> = []
    private var waiting: [FaultProxy.Direction: [@Sendable () -> Void]] = [:]

    func set(_ direction: FaultProxy.Direction, _ isCut: Bool) {
        let waiters = lock.withLock { () -> [@Sendable () -> Void] in
            if isCut {
                cut.insert(direction)
                return []
            }
            cut.remove(direction)
            return waiting.removeValue(forKey: direction) ?? []
        }
        for waiter in waiters { waiter() }
    }

    /// Runs work now, or once the direction is no longer cut.
    func run(_ direction: FaultProxy.Direction, _ work: @escaping @Sendable () -> Void) {
        let isCut = lock.withLock { () -> Bool in
            let isCut = cut.contains(direction)
            if isCut { waiting[direction, default: []].append(work) }
            return isCut
        }
        if !isCut { work() }
    }
}

/// Passes on what one end sends, and its closing.
private final class Pump: ChannelInboundHandler, ChannelOutboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer

    private let direction: FaultProxy.Direction
    private let cuts: NIOLockedCuts
    private let peer: any Channel

    init(_ direction: FaultProxy.Direction, _ cuts: NIOLockedCuts, to peer: any Channel) {
        (self.direction, self.cuts, self.peer) = (direction, cuts, peer)
    }

    func read(context: ChannelHandlerContext) {
        let loop = context.eventLoop
        let bound = NIOLoopBound(context, eventLoop: loop)
        cuts.run(direction) { loop.execute { bound.value.read() } }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let peer = peer
        let buffer = unwrapInboundIn(data)
        // What was read just before a cut is held as well.
        cuts.run(direction) { peer.writeAndFlush(buffer, promise: nil) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        let peer = peer
        cuts.run(direction) { peer.close(promise: nil) }
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
