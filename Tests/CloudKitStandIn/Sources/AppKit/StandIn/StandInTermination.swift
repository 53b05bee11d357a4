// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import Foundation

extension NSApplication {
    /// How often the app has registered for remote notifications.
    public var standInRegistrations: Int { registrations }
    /// The replies to the system, of which the app may give one.
    public var standInReplies: [Bool] { replies }

    /// Returns once the app has replied.
    public func standInReply() async {
        if replies.isEmpty { await withCheckedContinuation { repliesAreAwaited.append($0) } }
    }

    /// Waits for the reply as `terminate(_:)` does: it runs the main run loop in the mode of modal panels, and the
    /// caller stands still meanwhile.
    ///
    /// - Parameter limit: The time after which it gives up, in seconds.
    public func standInWaitForReply(atMost limit: TimeInterval) {
        let end = Date(timeIntervalSinceNow: limit)
        // Without a timer in the mode, the run loop has nothing to wait for.
        let timer = Timer(timeInterval: limit, repeats: false) { _ in }
        RunLoop.main.add(timer, forMode: .modalPanel)
        while replies.isEmpty, end.timeIntervalSinceNow > 0 {
            _ = RunLoop.main.run(mode: .modalPanel, before: Date(timeIntervalSinceNow: 0.01))
        }
        timer.invalidate()
    }
}
