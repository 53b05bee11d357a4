import Foundation

/// News: an address at which the services answer when something has changed.
extension CloudKitWebSession: WebCourierService {
    func newCourier() async throws(CloudError) -> URL? {
        try await inTurn { session throws(CloudError) in try await session.makeCourier() }
    }

    /// Asks for an address at which the services tell what has changed; `nil` if they have none.
    private func makeCourier() async throws(CloudError) -> URL? {
        let body = WebRequestBody.newToken(service.environment)
        // Uncertain: which of the paths it is.
        for root in ["device", "database"] {
            // The one of the response before.
            guard let token = try open().current else { throw CloudError(.notAuthenticated) }
            let url = try service.url(root, "tokens/create", token: token)
            let (answer, next) = try await exchange(WebTransportRequest(url: url, body), with: token)
            if !answer.isRefused { try keep(next, after: token) }
            if [400, 404, 405].contains(answer.status) { continue }
            let json = try answer.success()
            let address = json["webcourierURL"]?.string.flatMap { URL(string: $0) }
            return address.flatMap { $0.isSafeForTokens ? $0 : nil }
        }
        return nil
    }

    /// Longer than servers hold a poll.
    ///
    /// On Linux, a response that can't be used may keep the other sessions of the process waiting for so long.
    private static var longestPoll: Duration { .seconds(75) }

    nonisolated func poll(_ courier: URL) async throws(CloudError) -> WebAnswer {
        let request = WebTransportRequest(
            method: "GET",
            url: courier,
            timeout: Self.longestPoll,
            maximumResponseSize: 1 << 20,
            isLongPoll: true
        )
        return WebAnswer(try await transport.response(to: request), at: clock.now.wall)
    }
}
