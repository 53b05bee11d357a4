import Foundation

extension Output {
    /// Waits until the reader of the output has closed it; a terminal or a file always has a reader.
    ///
    /// A command that rarely writes would otherwise notice at its next write, and keep the device's state until then.
    ///
    /// - Throws: ``OutputError/closed``; returns without it only when the task is cancelled.
    func waitForReaderToLeave() async throws {
        let alarm = try Alarm()
        let isReaderGone = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // A thread of its own, since the wait in the system may be long.
                Thread.detachNewThread { continuation.resume(returning: alarm.waits(for: descriptor)) }
            }
        } onCancel: {
            alarm.ring()
        }
        if isReaderGone { throw OutputError.closed }
    }
}

/// A pipe that ends a wait in the system.
private struct Alarm: Sendable {
    private let readEnd: Int32
    private let writeEnd: Int32

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw OutputError.failed(String(cString: strerror(errno))) }
        (readEnd, writeEnd) = (ends[0], ends[1])
    }

    func ring() {
        // It cannot be full: this is the only byte.
        _ = Foundation.write(writeEnd, [0], 1)
    }

    /// Returns whether the other end of the descriptor was closed, when it is or when the alarm rings.
    func waits(for descriptor: Int32) -> Bool {
        var watched = [
            pollfd(fd: descriptor, events: 0, revents: 0),
            pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&watched, nfds_t(watched.count), -1) < 0, errno == EINTR {}
        return Int32(watched[0].revents) & (POLLERR | POLLHUP) != 0
    }
}
