import AppKit
import CodableSync
import UIKit
import WatchKit

// The article ApplePlatforms.md shows the parts of this file.

/// The article's model; the tests of the engine have another one of this name.
enum NotesModels {
    // begin model
    struct Note: RecordCodable, Identifiable, Equatable {
        let id: String
        var text: String

        static func resolveConflict(_ conflict: Conflict<Note>) throws -> Note? {
            try conflict.merged()
        }
    }
    // end model
}

/// The app's engines, which the article makes once: each test has its own.
@MainActor
enum Sync {
    static var lifecycle = AppLifecycle()
    static let dailySync = "com.example.notes.sync"
}

// begin delegate
final class AppDelegate: NSObject, UIApplicationDelegate {
    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        application.registerForRemoteNotifications()
        do {
            try Sync.lifecycle.registerDailySync(identifier: Sync.dailySync)
        } catch {
            // Always in the simulator; elsewhere an entry in the Info.plist is missing.
            print("There is no daily sync: \(error)")
        }
        return true
    }

    func application(
        _ application: UIApplication,
        didReceiveRemoteNotification userInfo: [AnyHashable: Any]
    ) async -> UIBackgroundFetchResult {
        UIBackgroundFetchResult(await Sync.lifecycle.handleNotification(userInfo))
    }

    func applicationDidBecomeActive(_ application: UIApplication) {
        Sync.lifecycle.didBecomeActive()
    }

    func applicationDidEnterBackground(_ application: UIApplication) {
        Sync.lifecycle.didEnterBackground(application)
    }
}
// end delegate

// begin mac
final class MacAppDelegate: NSObject, NSApplicationDelegate {
    func applicationDidFinishLaunching(_ notification: Notification) {
        NSApplication.shared.registerForRemoteNotifications()
    }

    func applicationDidBecomeActive(_ notification: Notification) {
        Sync.lifecycle.didBecomeActive()
    }

    func application(
        _ application: NSApplication,
        didReceiveRemoteNotification userInfo: [String: Any]
    ) {
        Task { await Sync.lifecycle.handleNotification(userInfo) }
    }

    func applicationShouldTerminate(_ sender: NSApplication) -> NSApplication.TerminateReply {
        Sync.lifecycle.shouldTerminate(sender)
    }
}
// end mac

// begin watch
final class WatchAppDelegate: NSObject, WKApplicationDelegate {
    func applicationDidFinishLaunching() {
        WKApplication.shared().registerForRemoteNotifications()
    }

    func applicationDidBecomeActive() {
        Sync.lifecycle.didBecomeActive()
    }

    func didReceiveRemoteNotification(_ userInfo: [AnyHashable: Any]) async -> WKBackgroundFetchResult {
        WKBackgroundFetchResult(await Sync.lifecycle.handleNotification(userInfo))
    }
}
// end watch
