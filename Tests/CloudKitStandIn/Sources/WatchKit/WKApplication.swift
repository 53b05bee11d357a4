// Apple documents these declarations.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

@_exported public import Foundation

@MainActor open class WKApplication: NSObject {
    private static let application = WKApplication()
    var registrations = 0

    public class func shared() -> WKApplication { application }

    open func registerForRemoteNotifications() { registrations += 1 }
}

public enum WKBackgroundFetchResult: UInt, Sendable {
    case newData = 0
    case noData = 1
    case failed = 2
}

// Each requirement is optional.
@MainActor public protocol WKApplicationDelegate: NSObjectProtocol {
    func applicationDidFinishLaunching()
    func applicationDidBecomeActive()
    func didReceiveRemoteNotification(_ userInfo: [AnyHashable: Any]) async -> WKBackgroundFetchResult
}

extension WKApplicationDelegate {
    public func applicationDidFinishLaunching() {}
    public func applicationDidBecomeActive() {}
    public func didReceiveRemoteNotification(
        _ userInfo: [AnyHashable: Any]
    ) async -> WKBackgroundFetchResult { .noData }
}
