// In an app for Mac Catalyst, UIKit's functions are used.
#if canImport(AppKit) && !targetEnvironment(macCatalyst)
    public import AppKit
    import Foundation

    extension AppLifecycle {
        /// Sends the queued changes before the app quits.
        ///
        /// Return its result from `applicationShouldTerminate(_:)`. The app quits once the changes are sent
        /// or have failed, or when the time is up. Edits whose calls have returned are durable either way;
        /// the engine sends the rest after the next launch. The app may quit from anywhere, also within a task of the
        /// main actor or a block of the main queue, which both stand still until the reply. An edit of ``LiveModels``
        /// that was made in the same task or block is then lost, since its closure needs the main actor once more.
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
            // Nothing here may need the main actor: if the app quits within one of its jobs, AppKit waits for the
            // reply within that job.
            let sending = Task.detached(priority: .userInitiated) { try await sendLastChanges() }
            let waiting = Task.detached(priority: .userInitiated) { [clock] in
                try await clock.sleep(until: end)
                sending.cancel()
            }
            Task.detached(priority: .userInitiated) {
                // The engines report failures in their status and events; the changes are durable.
                _ = await sending.result
                waiting.cancel()
                Self.reply(to: application)
            }
            return .terminateLater
        }

        /// Replies on the main run loop, which AppKit runs in one of these modes while it waits.
        private static func reply(to application: NSApplication) {
            RunLoop.main.perform(inModes: [.common, .modalPanel]) {
                MainActor.assumeIsolated { application.reply(toApplicationShouldTerminate: true) }
            }
            // Whether `perform` wakes the run loop is not documented.
            CFRunLoopWakeUp(CFRunLoopGetMain())
        }
    }
#endif
