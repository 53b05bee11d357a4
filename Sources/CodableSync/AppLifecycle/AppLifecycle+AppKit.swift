// In an app for Mac Catalyst, UIKit's functions are used.
#if canImport(AppKit) && !targetEnvironment(macCatalyst)
    public import AppKit

    extension AppLifecycle {
        /// Sends the queued changes before the app quits.
        ///
        /// Return its result from `applicationShouldTerminate(_:)`. The app quits once the changes are sent
        /// or have failed, or when the time is up. Edits whose calls have returned are durable either way;
        /// the engine sends the rest after the next launch.
        ///
        /// - Parameters:
        ///   - application: The app.
        ///   - limit: The maximum time to wait, 5 seconds by default.
        /// - Returns: `terminateLater`; the reply follows.
        @MainActor
        public func shouldTerminate(
            _ application: NSApplication,
            within limit: Duration = .seconds(5)
        ) -> NSApplication.TerminateReply {
            let end = self.end(after: limit)
            let sending = Task { try await sendChanges() }
            let waiting = Task { [clock] in
                try await clock.sleep(until: end)
                sending.cancel()
            }
            Task {
                // The engines report failures in their status and events; the changes are durable.
                _ = await sending.result
                waiting.cancel()
                application.reply(toApplicationShouldTerminate: true)
            }
            return .terminateLater
        }
    }
#endif
