import Foundation

/// What a courier asks.
protocol WebCourierService: Sendable {
    /// Asks for an address at which the services tell what has changed; `nil` if they have none.
    func newCourier() async throws(CloudError) -> URL?

    /// Waits for the next news at this address.
    func poll(_ courier: URL) async throws(CloudError) -> WebAnswer
}

/// Asks the services for news: by a request that they answer when something has changed, or every 30 seconds where
/// they have no such thing.
///
/// [Creating APNs Tokens](https://developer.apple.com/library/archive/documentation/DataManagement/Conceptual/CloudKitWebServicesReference/CreateTokens.html)
struct WebCourier: Sendable {
    let clock: any SyncClock

    private static let interval = Duration.seconds(30)
    private static let longestPause = Duration.seconds(60)

    /// Runs until the task is cancelled or the session is gone.
    ///
    /// - Parameters:
    ///   - service: The session; `nil` once it is gone.
    ///   - tell: Called with the news.
    func run(
        _ service: @Sendable () -> (any WebCourierService)?,
        _ tell: @Sendable (CloudSignal) -> Void
    ) async {
        var (failures, quick) = (0, 0)
        while !Task.isCancelled {
            do {
                guard let courier = try await service()?.newCourier() else {
                    if service() == nil { return }
                    try await pause(Self.interval)
                    tell(.changes(in: nil))
                    continue
                }
                // Something may have changed before there was a courier.
                if failures > 0 { tell(.changes(in: nil)) }
                while !Task.isCancelled {
                    let begin = clock.now.monotonic
                    guard let answer = try await service()?.poll(courier) else { return }
                    // Something between may answer at once, again and again.
                    quick = clock.now.monotonic - begin < .seconds(1) ? quick + 1 : 0
                    if quick > 3 { try await pause(min(Self.longestPause, .seconds(1 << min(quick - 3, 6)))) }
                    guard answer.status == 200 else { throw CloudError(.networkFailure) }
                    failures = 0
                    // An empty answer only keeps the connection.
                    if let json = answer.json { tell(.changes(in: Self.zones(in: json))) }
                }
            } catch {
                failures += 1
                do {
                    try await pause(min(Self.longestPause, .seconds(1 << min(failures, 6))))
                } catch {
                    // The task was cancelled.
                    return
                }
            }
        }
    }

    private func pause(_ duration: Duration) async throws {
        try await clock.sleep(until: clock.now.monotonic + duration)
    }

    /// The zone that a notification names; `nil` if it names none, so that any may have changed.
    private static func zones(in json: WebJSON) -> [ZoneID]? {
        let kinds = ["fet", "met", "qry"].compactMap { json["ck"]?[$0] }
        guard let zone = kinds.first?["zid"]?.string, !zone.isEmpty else { return nil }
        // The owner is the user, whose name the services write out.
        return [ZoneID(zoneName: zone)]
    }
}
