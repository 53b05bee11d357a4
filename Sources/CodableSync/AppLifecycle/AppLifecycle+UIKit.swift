// UIKit without UIApplication is on watchOS too.
#if canImport(UIKit) && !os(watchOS)
    public import UIKit

    extension UIBackgroundFetchResult {
        /// Converts the outcome of ``AppLifecycle/handleNotification(_:within:)`` for the system.
        ///
        /// - Parameter outcome: The outcome; `notOurs` is `noData`.
        public init(_ outcome: NotificationOutcome) {
            switch outcome {
            case .newData: self = .newData
            case .noData, .notOurs: self = .noData
            case .failed: self = .failed
            }
        }
    }

    @available(iOSApplicationExtension, unavailable)
    @available(tvOSApplicationExtension, unavailable)
    @available(visionOSApplicationExtension, unavailable)
    extension AppLifecycle {
        /// Sends the queued changes while the system lets the app run in the background.
        ///
        /// Call it when the user leaves the app: in `applicationDidEnterBackground(_:)`, in a scene
        /// delegate's `sceneDidEnterBackground(_:)`, or when SwiftUI's scene phase becomes `background`. It
        /// begins a background task before it returns, and ends it once the changes are sent or have failed,
        /// or when the system's time is up. Edits whose calls have returned are durable either way; the
        /// engine sends the rest after the next launch.
        ///
        /// - Parameter application: The app.
        /// - Returns: The task that sends. It throws what ``sendChanges()`` throws, and `CancellationError`
        ///   if the time was up; the engines report failures in their status and events as well.
        @MainActor
        @discardableResult
        public func didEnterBackground(_ application: UIApplication) -> Task<Void, any Error> {
            let background = BackgroundTask(of: application)
            let sending = Task {
                defer { background.end() }
                try await sendChanges()
            }
            background.begin { sending.cancel() }
            return sending
        }
    }

    /// A background task of the app, which ends once.
    @available(iOSApplicationExtension, unavailable)
    @available(tvOSApplicationExtension, unavailable)
    @available(visionOSApplicationExtension, unavailable)
    @MainActor
    private final class BackgroundTask {
        private let application: UIApplication
        private var identifier = UIBackgroundTaskIdentifier.invalid

        init(of application: UIApplication) {
            self.application = application
        }

        /// Begins the task.
        ///
        /// The system ends an app whose task has not ended when the handler returns.
        func begin(onExpiration stop: @escaping @MainActor @Sendable () -> Void) {
            identifier = application.beginBackgroundTask(withName: "CodableSync") {
                stop()
                self.end()
            }
        }

        func end() {
            guard identifier != .invalid else { return }
            application.endBackgroundTask(identifier)
            identifier = .invalid
        }
    }
#endif
