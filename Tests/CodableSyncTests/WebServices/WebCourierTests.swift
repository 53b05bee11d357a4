import Foundation
import XCTest

@testable import CodableSync

/// News from the services, by a request that waits, or every 30 seconds without one.
final class WebCourierTests: XCTestCase {
    private let clock = ManualClock()

    /// Services whose answers a test gives.
    private final class Services: WebCourierService {
        private struct State {
            var couriers: [Result<URL?, CloudError>] = []
            var answers: [Result<WebAnswer, CloudError>] = []
            var made = 0
            var polls = 0
        }

        private let state = Locked(State())

        init(couriers: [Result<URL?, CloudError>], answers: [Result<WebAnswer, CloudError>] = []) {
            state.withLock { ($0.couriers, $0.answers) = (couriers, answers) }
        }

        var made: Int { state.withLock { $0.made } }
        var polls: Int { state.withLock { $0.polls } }

        func newCourier() async throws(CloudError) -> URL? {
            let next = state.withLock { state in
                state.made += 1
                return state.couriers.isEmpty ? nil : state.couriers.removeFirst()
            }
            guard let next else { throw CloudError(.networkFailure) }
            return try next.get()
        }

        func poll(_ courier: URL) async throws(CloudError) -> WebAnswer {
            let next = state.withLock { state in
                state.polls += 1
                return state.answers.isEmpty ? nil : state.answers.removeFirst()
            }
            guard let next else { throw CloudError(.networkFailure) }
            return try next.get()
        }
    }

    private func answer(_ text: String) throws -> Result<WebAnswer, CloudError> {
        .success(WebAnswer(status: 200, json: text.isEmpty ? nil : try WebJSON(Array(text.utf8))))
    }

    /// The signals until the courier has paused this often.
    private func signals(
        of services: Services,
        pauses: Int = 1
    ) async throws -> [CloudSignal] {
        let told = Locked<[CloudSignal]>([])
        let (courier, clock) = (WebCourier(clock: clock), clock)
        let run = Task {
            await courier.run({ services }, { signal in told.withLock { $0.append(signal) } })
        }
        for pause in 1...pauses {
            await clock.wait { !$0.isEmpty }
            if pause < pauses { clock.advance(by: .seconds(61)) }
        }
        run.cancel()
        await run.value
        return told.withLock { $0 }
    }

    private var address: URL? { URL(string: "https://example.org/courier") }

    func testANotificationNamesTheZone() async throws {
        let services = Services(
            couriers: [.success(address)],
            answers: [
                try answer(#"{"ck":{"cid":"c","fet":{"zid":"Notes","zoid":"_alice","sid":"s"}}}"#),
                try answer(""),
                try answer(#"{"aps":{}}"#),
            ]
        )
        let told = try await signals(of: services)
        XCTAssertEqual(told, [.changes(in: [ZoneID(zoneName: "Notes")]), .changes(in: nil)])
        XCTAssertEqual(services.polls, 4)
        XCTAssertEqual(services.made, 1)
    }

    func testAfterAFailureAnythingMayHaveChanged() async throws {
        let services = Services(
            couriers: [.success(address), .failure(CloudError(.serviceUnavailable)), .success(address)],
            answers: [.success(WebAnswer(status: 503, json: nil)), try answer("")]
        )
        let told = try await signals(of: services, pauses: 3)
        XCTAssertEqual(told, [.changes(in: nil)])
        XCTAssertEqual(services.made, 3)
    }

    /// A proxy may answer at once, again and again.
    func testAnswersAtOnceAreNotAskedForWithoutAPause() async throws {
        let empty = try (1...20).map { _ in try answer("") }
        let services = Services(couriers: [.success(address)], answers: empty)
        _ = try await signals(of: services)
        XCTAssertEqual(services.polls, 4)
    }

    func testWithoutACourierTheServicesAreAskedEvery30Seconds() async throws {
        let services = Services(couriers: [.success(nil), .success(nil), .success(nil)])
        let told = try await signals(of: services, pauses: 3)
        XCTAssertEqual(told, [.changes(in: nil), .changes(in: nil)])
    }
}
