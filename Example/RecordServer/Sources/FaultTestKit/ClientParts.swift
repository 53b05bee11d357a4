import CodableSync
import Foundation

/// Waits of an engine sixty times as fast, so that the longest, of five minutes, takes five seconds; and a wall clock
/// that may be wrong.
final class FastClock: SyncClock, @unchecked Sendable {
    // `@unchecked Sendable` holds because the lock guards all that changes.
    static let factor = 60

    private let base = SystemClock()
    private let lock = NSLock()
    private var error: Double

    init(error: Double) {
        self.error = error
    }

    /// What an engine must be told to wait so long.
    static func time(_ duration: Duration) -> Duration { duration * factor }

    var now: Moment {
        let now = base.now
        let error = lock.withLock { self.error }
        return Moment(monotonic: now.monotonic * Self.factor, wall: now.wall.addingTimeInterval(error))
    }

    func sleep(until instant: Duration) async throws { try await base.sleep(until: instant / Self.factor) }

    func setError(_ seconds: Double) { lock.withLock { error = seconds } }
}

/// A transport with deadlines of five seconds.
struct HastyTransport: WebTransport {
    private let base = URLSessionTransport()

    func response(to request: WebTransportRequest) async throws(CloudError) -> WebTransportResponse {
        var request = request
        if !request.isLongPoll { request.timeout = .seconds(5) }
        return try await base.response(to: request)
    }
}

/// What a client is told on its standard input.
final class FaultCommands: @unchecked Sendable {
    // `@unchecked Sendable` holds because the lock guards the phase.
    enum Phase {
        case waiting, editing, healing, quit
    }

    private let lock = NSLock()
    private var current = Phase.waiting

    var phase: Phase { lock.withLock { current } }

    /// Reads commands in a thread of its own until there are no more, which ends the client too.
    func listen(_ setClock: @escaping @Sendable (Double) -> Void) {
        Thread.detachNewThread {
            while let line = readLine() {
                let words = line.split(separator: " ")
                switch words.first {
                case "go": self.enter(.editing)
                case "heal": self.enter(.healing)
                case "clock": setClock(words.dropFirst().first.flatMap { Double($0) } ?? 0)
                default: self.enter(.quit)
                }
            }
            self.enter(.quit)
        }
    }

    private func enter(_ phase: Phase) { lock.withLock { current = phase } }
}

/// A file to which lines are added from any thread.
final class LineFile: @unchecked Sendable {
    // `@unchecked Sendable` holds because the lock guards the file.
    private let lock = NSLock()
    private let file: FileHandle

    init(_ url: URL) throws {
        if !FileManager.default.fileExists(atPath: url.path) { try Data().write(to: url) }
        file = try FileHandle(forWritingTo: url)
        try file.seekToEnd()
    }

    func write(_ line: String) {
        lock.withLock { file.write(Data((line + "\n").utf8)) }
    }
}
