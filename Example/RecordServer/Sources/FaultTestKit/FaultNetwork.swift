import Foundation
import NIOCore
import NIOPosix

/// What lies between the clients of a run and its server.
protocol FaultNetwork {
    /// The command that runs another where the server is; empty where this process is.
    var serverPrefix: [String] { get }

    /// The command that runs another where a client is; empty where this process is.
    func clientPrefix(_ place: Int) -> [String]

    /// Connects a client with the server, which listens.
    ///
    /// - Returns: Where the client reaches the server.
    func connect(_ place: Int, toPort port: Int) async throws -> URL

    /// Cuts or restores a direction of a client.
    func set(_ place: Int, _ direction: FaultProxy.Direction, isCut: Bool) throws

    /// Removes everything.
    func close() async throws
}

/// A proxy for each client, in this process.
final class ProxyNetwork: FaultNetwork {
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private var proxies: [Int: FaultProxy] = [:]

    let serverPrefix: [String] = []

    func clientPrefix(_ place: Int) -> [String] { [] }

    func connect(_ place: Int, toPort port: Int) async throws -> URL {
        let proxy = try await FaultProxy(on: group, to: ("127.0.0.1", port))
        proxies[place] = proxy
        return try URL(loopbackPort: proxy.port)
    }

    func set(_ place: Int, _ direction: FaultProxy.Direction, isCut: Bool) {
        proxies[place]?.set(direction, isCut: isCut)
    }

    func close() async throws {
        for proxy in proxies.values { try await proxy.close() }
        try await group.shutdownGracefully()
    }
}

/// A network namespace for each client and for the server, and one between them that drops packets.
///
/// A rule of the router drops what one host sends another, without a word to either, as a network that is cut does.
/// Since tokens travel unencrypted on loopback only, each host has a forwarder on its own loopback.
final class NamespaceNetwork: FaultNetwork {
    private static let serverHost = "10.77.250.2"
    private static let port = 8080

    /// Of this network alone, so that other runs and what an ended one has left are let be.
    private let name = "ft\(String(UInt32.random(in: 60_466_176..<2_176_782_336), radix: 36))"
    private var hosts: [String] = []
    private var forwarders: [Process] = []

    /// Makes the namespaces.
    ///
    /// - Throws: An error if one can't be made.
    init() throws {
        do {
            try add("r")
            // The router passes on what is not its own.
            try run(inNamespace("r") + ["sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward"])
            try link("s", 250)
            for place in 0..<Entry.clientCount { try link("\(place)", place + 1) }
        } catch {
            removeNamespaces()
            throw error
        }
    }

    deinit { removeNamespaces() }

    /// Whether this process may make namespaces.
    static var isAvailable: Bool {
        let name = "ft\(ProcessInfo.processInfo.processIdentifier)x"
        do {
            return try start(["ip", "netns", "add", name]).wait()
                && start(["ip", "netns", "del", name]).wait()
        } catch {
            // There is no `ip`.
            return false
        }
    }

    var serverPrefix: [String] { inNamespace("s") }

    func clientPrefix(_ place: Int) -> [String] { inNamespace("\(place)") }

    func connect(_ place: Int, toPort port: Int) async throws -> URL {
        if forwarders.isEmpty { try forward("s", "\(Self.serverHost):\(Self.port)", "127.0.0.1:\(port)") }
        try forward("\(place)", "127.0.0.1:\(Self.port)", "\(Self.serverHost):\(Self.port)")
        return try URL(loopbackPort: Self.port)
    }

    func set(_ place: Int, _ direction: FaultProxy.Direction, isCut: Bool) throws {
        let client = Self.host(place + 1)
        let (from, to) = direction == .requests ? (client, Self.serverHost) : (Self.serverHost, client)
        try run(
            inNamespace("r") + ["ip", "rule", isCut ? "add" : "del", "from", from, "to", to, "blackhole"]
        )
    }

    func close() async throws {
        for forwarder in forwarders where forwarder.isRunning {
            forwarder.terminate()
            forwarder.waitUntilExit()
        }
        removeNamespaces()
    }

    // MARK: Parts

    private static func host(_ number: Int) -> String { "10.77.\(number).2" }

    private func inNamespace(_ host: String) -> [String] { ["ip", "netns", "exec", name + host] }

    private func add(_ host: String) throws {
        try run(["ip", "netns", "add", name + host])
        hosts.append(host)
        try run(inNamespace(host) + ["ip", "link", "set", "lo", "up"])
    }

    /// Makes a host, and a link between it and the router.
    private func link(_ host: String, _ number: Int) throws {
        try add(host)
        let (inner, outer) = ("\(name)\(host)i", "\(name)\(host)o")
        try run(
            inNamespace("r") + [
                "ip", "link", "add", outer, "type", "veth", "peer", "name", inner, "netns", name + host,
            ]
        )
        for (place, link, address) in [
            ("r", outer, "10.77.\(number).1/30"), (host, inner, "10.77.\(number).2/30"),
        ] {
            try run(inNamespace(place) + ["ip", "addr", "add", address, "dev", link])
            try run(inNamespace(place) + ["ip", "link", "set", link, "up"])
        }
        try run(inNamespace(host) + ["ip", "route", "add", "default", "via", "10.77.\(number).1"])
    }

    private func forward(_ host: String, _ from: String, _ to: String) throws {
        let program = ServerProcess.programs.appending(path: "fault-test").path
        forwarders.append(
            try Self.start(inNamespace(host) + [program, "forward", "--from", from, "--to", to])
        )
    }

    private func run(_ command: [String]) throws {
        guard try Self.start(command).wait() else {
            throw FaultRunError("'\(command.joined(separator: " "))' has failed.")
        }
    }

    private static func start(_ command: [String]) throws -> Process {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = command
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        return process
    }

    private func removeNamespaces() {
        for host in hosts {
            do {
                _ = try Self.start(["ip", "netns", "del", name + host]).wait()
            } catch {
                // Without `ip` there are none.
            }
        }
        hosts = []
    }
}

extension Process {
    /// Waits for the end; returns whether it has succeeded.
    fileprivate func wait() -> Bool {
        waitUntilExit()
        return terminationStatus == 0
    }
}

extension URL {
    fileprivate init(loopbackPort port: Int) throws {
        guard let url = URL(string: "http://127.0.0.1:\(port)") else {
            throw FaultRunError("There is no port.")
        }
        self = url
    }
}
