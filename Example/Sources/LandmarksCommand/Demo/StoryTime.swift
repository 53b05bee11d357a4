import CodableSync
import Foundation

/// The wall clock of the demo, which only moves when it is advanced.
final class StoryTime: Sendable {
    private let minutes = Guarded(0)
    /// Some hours ago, so that the whole demo is in the past.
    private let beginning = Date(timeIntervalSinceNow: -12 * 3600)

    var date: Date { beginning.addingTimeInterval(Double(minutes.withLock { $0 }) * 60) }

    /// The time as `09:05`; the demo begins at nine.
    var text: String {
        let minutes = minutes.withLock { $0 }
        let parts = [9 + minutes / 60, minutes % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
        return parts.joined(separator: ":")
    }

    func passes(minutes count: Int) {
        minutes.withLock { $0 += count }
    }
}

/// A device's clock: waits are real, and the date is the demo's.
struct StoryClock: SyncClock {
    let time: StoryTime
    private let system = SystemClock()

    init(time: StoryTime) {
        self.time = time
    }

    var now: Moment { Moment(monotonic: system.now.monotonic, wall: time.date) }

    func sleep(until instant: Duration) async throws { try await system.sleep(until: instant) }
}
