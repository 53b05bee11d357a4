// Apple documents these declarations.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Dispatch
public import Foundation

open class BGTaskScheduler: NSObject {
    public struct Error: Swift.Error, Hashable, Sendable {
        public enum Code: Int, Sendable {
            case unavailable = 1
            case tooManyPendingTaskRequests = 2
            case notPermitted = 3
        }

        private let value: Code

        public var code: Code { value }

        public init(_ code: Code, userInfo: [String: Any] = [:]) { value = code }
    }

    // Everything in it is guarded by the lock of `StandInTasks`.
    nonisolated(unsafe) private static let scheduler = BGTaskScheduler()

    public class var shared: BGTaskScheduler { scheduler }

    open func register(
        forTaskWithIdentifier identifier: String,
        using queue: DispatchQueue?,
        launchHandler: @escaping (BGTask) -> Void
    ) -> Bool {
        StandInTasks.shared.register(identifier, queue, launchHandler)
    }

    open func submit(_ taskRequest: BGTaskRequest) throws {
        try StandInTasks.shared.submit(taskRequest)
    }
}
