// Apple documents these declarations.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

@_exported public import Foundation

@MainActor open class NSResponder: NSObject {}

@MainActor open class NSApplication: NSResponder {
    public enum TerminateReply: UInt, Sendable {
        case terminateCancel = 0
        case terminateNow = 1
        case terminateLater = 2
    }

    private static let application = NSApplication()

    public class var shared: NSApplication { application }

    var registrations = 0
    var replies: [Bool] = []
    var repliesAreAwaited: [CheckedContinuation<Void, Never>] = []

    open func registerForRemoteNotifications() { registrations += 1 }

    open func reply(toApplicationShouldTerminate shouldTerminate: Bool) {
        replies.append(shouldTerminate)
        for waiter in repliesAreAwaited { waiter.resume() }
        repliesAreAwaited = []
    }
}

// Each requirement is optional.
@MainActor public protocol NSApplicationDelegate: NSObjectProtocol {
    func applicationDidFinishLaunching(_ notification: Notification)
    func applicationDidBecomeActive(_ notification: Notification)
    func applicationShouldTerminate(_ sender: NSApplication) -> NSApplication.TerminateReply
    func application(_ application: NSApplication, didReceiveRemoteNotification userInfo: [String: Any])
}

extension NSApplicationDelegate {
    public func applicationDidFinishLaunching(_ notification: Notification) {}
    public func applicationDidBecomeActive(_ notification: Notification) {}
    public func applicationShouldTerminate(_ sender: NSApplication) -> NSApplication.TerminateReply {
        .terminateNow
    }
    public func application(
        _ application: NSApplication,
        didReceiveRemoteNotification userInfo: [String: Any]
    ) {}
}
