// Apple documents these declarations.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Dispatch

public struct NWPath: Sendable {
    public enum Status: Sendable {
        case satisfied
        case unsatisfied
        case requiresConnection
    }

    public let status: NWPath.Status
}

/// The tests' own queues use an instance, one after the other.
public final class NWPathMonitor {
    @preconcurrency public var pathUpdateHandler: (@Sendable (NWPath) -> Void)?

    public init() {}

    public func start(queue: DispatchQueue) {
        StandInNetwork.start(self, pathUpdateHandler, on: queue)
    }

    public func cancel() { StandInNetwork.cancel(self) }
}
