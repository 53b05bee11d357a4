import Foundation

@testable import CodableSync

/// A clock that stands still: a sleep ends only when it is canceled.
struct StoppedClock: SyncClock {
    var now = Moment(monotonic: .zero, wall: Date(timeIntervalSince1970: 1_700_000_000))

    func sleep(until instant: Duration) async throws {
        let (never, continuation) = AsyncStream.makeStream(of: Void.self)
        for await _ in never {}
        continuation.finish()
        throw CancellationError()
    }
}
