import CodableSync
import RecordCoding

/// A device's connection on which every request and every answer waits until the story lets it go on.
///
/// `@unchecked Sendable` holds because one thread alone runs a story.
final class SimulatedConnection: ForwardingDatabase, @unchecked Sendable {
    /// What becomes of a request or an answer on its way.
    enum Fate {
        case arrives
        case fails(CloudError)
    }

    private typealias Place = (operation: FakeOperation, resume: CheckedContinuation<Fate, Never>)

    private var onTheWay: [Place] = []
    /// Whether requests wait; otherwise they are done and answered at once.
    var isHolding = true
    /// Nothing leaves a device that has lost its power; what is on the way arrives all the same.
    var isOff = false
    /// Names of records that no page and no look-up can read now.
    var unreadable: Set<String> = []

    /// The number of requests that have arrived and are not processed yet.
    private(set) var arrivingCount = 0

    /// How many requests and answers are on their way.
    var waitingCount: Int { onTheWay.count }

    /// Lets one of them go on.
    func release(_ index: Int, _ fate: Fate) -> FakeOperation {
        let place = onTheWay.remove(at: index)
        place.resume.resume(returning: fate)
        return place.operation
    }

    /// Lets all of them go on, and holds nothing more.
    func releaseAll() {
        isHolding = false
        while !onTheWay.isEmpty { _ = release(0, .arrives) }
    }

    private func travel(_ operation: FakeOperation) async throws {
        guard isHolding else { return }
        let fate = await withCheckedContinuation { onTheWay.append((operation, $0)) }
        if case .fails(let error) = fate { throw error }
    }

    override func perform<Answer: Sendable>(
        _ operation: FakeOperation,
        _ request: @Sendable () async throws -> Answer
    ) async throws -> Answer {
        if isOff { throw CloudError(.networkUnavailable) }
        let account = base.accountGeneration
        try await travel(operation)
        // A request is its sender's, whoever has signed in since.
        if base.accountGeneration != account { throw CloudError(.networkFailure) }
        let answer: Answer
        do {
            arrivingCount += 1
            defer { arrivingCount -= 1 }
            answer = try await request()
        }
        try await travel(operation)
        return answer
    }

    private static let unreadableError = CloudError(.internalError, message: "The record cannot be read now.")

    override func recordZoneChanges(
        inZoneWith zoneID: ZoneID,
        since changeToken: ChangeToken?,
        desiredKeys: [String]?,
        resultsLimit: Int?
    ) async throws -> ZoneChanges {
        try await perform(.recordZoneChanges) {
            var page = try await base.recordZoneChanges(
                inZoneWith: zoneID,
                since: changeToken,
                desiredKeys: desiredKeys,
                resultsLimit: resultsLimit
            )
            for id in page.modifications.keys where unreadable.contains(id.recordName) {
                page.modifications[id] = .failure(Self.unreadableError)
            }
            return page
        }
    }

    override func records(
        for ids: [RecordID],
        desiredKeys: [String]?
    ) async throws -> [RecordID: Result<Record, CloudError>] {
        try await perform(.records) {
            var found = try await base.records(for: ids, desiredKeys: desiredKeys)
            for id in ids where unreadable.contains(id.recordName) && found[id] != nil {
                found[id] = .failure(Self.unreadableError)
            }
            return found
        }
    }
}
