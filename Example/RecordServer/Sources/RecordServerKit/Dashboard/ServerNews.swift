import Foundation

/// What the dashboard shows beside the databases: the last requests, and whose databases change.
///
/// An actor, since requests, changes and those who wait for them meet here.
actor ServerNews {
    /// A request that was answered.
    struct Request: Encodable, Sendable {
        let date: String
        let method: String
        /// The template of the path, without tokens and names.
        let path: String
        let status: Int
        let user: String?
    }

    /// What has happened since a number.
    struct Page: Encodable, Sendable {
        /// The number to ask with next.
        let last: Int
        /// The last requests, the newest first; missing if there is no new one.
        let requests: [Request]?
        /// Whose databases have changed.
        let users: [String]
    }

    private static let maximumRequests = 100

    private var last = 1
    private var requests: [Request] = []
    private var lastRequest = 0
    private var lastChange: [String: Int] = [:]
    private var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    private var lastWaiting = 0

    /// Notes a request that was answered.
    func note(_ request: Request) {
        if requests.count >= Self.maximumRequests { requests.removeFirst() }
        requests.append(request)
        lastRequest = tell()
    }

    /// Notes that a user's database has changed.
    func noteChange(of user: String) { lastChange[user] = tell() }

    private func tell() -> Int {
        last += 1
        for continuation in waiting.values { continuation.resume() }
        waiting = [:]
        return last
    }

    /// Waits until something has happened.
    ///
    /// - Parameters:
    ///   - number: The number of the page before; 0 returns at once.
    ///   - time: How long to wait.
    /// - Returns: What has happened, which may be nothing.
    func page(after number: Int, within time: Duration) async -> Page {
        // A number from before a restart is of another count.
        if number == last { await wait(for: time) }
        let isNew = number < lastRequest || number > last
        return Page(
            last: last,
            requests: isNew || number == 0 ? requests.reversed() : nil,
            users: lastChange.filter { $0.value > number || number > last }.keys.sorted()
        )
    }

    private func wait(for time: Duration) async {
        lastWaiting += 1
        let place = lastWaiting
        let timer = Task {
            do { try await Task.sleep(for: time) } catch { return }
            end(place)
        }
        defer { timer.cancel() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiting[place] = $0 }
        } onCancel: {
            Task { await self.end(place) }
        }
    }

    private func end(_ place: Int) { waiting.removeValue(forKey: place)?.resume() }
}
