import CodableSync
import RecordCoding

/// A device's connection that holds every request and answer until the story releases it.
///
/// `@unchecked Sendable` holds because a story runs on a single thread.
final class SimulatedConnection: ForwardingDatabase, @unchecked Sendable {
    /// The outcome of a held request or answer.
    enum Fate {
        case arrives
        case fails(CloudError)
        /// The engine gives up a request, which stays on its way; an answer is lost.
        case isLate(CloudError)
    }

    private typealias Place = (operation: FakeOperation, resume: CheckedContinuation<Fate, Never>)

    private var onTheWay: [Place] = []
    /// Whether requests and answers are held; otherwise they pass at once.
    var isHolding = true
    /// Whether the device has lost power; new requests fail, but those already sent still arrive.
    var isOff = false
    /// Names of records that pages and look-ups fail to read.
    var unreadable: Set<String> = []

    /// What the cloud had before and after saves whose answers the engine never got.
    private(set) var unansweredSaves: [(before: [String: Record], after: [String: Record])] = []
    /// The same for the last save whose answer the engine got.
    private var lastSave: (before: [String: Record], after: [String: Record])?
    /// Requests that the engine has given up.
    private var late: [FakeHold] = []
    private let fake: FakeDatabase
    /// Returns the cloud's records by name.
    private let records: () -> [String: Record]

    init(_ fake: FakeDatabase, records: @escaping () -> [String: Record]) {
        self.fake = fake
        self.records = records
        super.init(fake)
    }

    /// The number of requests that have arrived and are not processed yet.
    private(set) var arrivingCount = 0

    /// The number of held requests and answers.
    var waitingCount: Int { onTheWay.count }

    /// Counts the last answer as lost, since the engine ended before it had stored what the answer says.
    func loseLastAnswer() {
        if let lastSave { unansweredSaves.append(lastSave) }
        lastSave = nil
    }

    /// The kind of a held request, or of the request that a held answer is to.
    func operation(_ index: Int) -> FakeOperation { onTheWay[index].operation }

    /// Releases a held request or answer.
    func release(_ index: Int, _ fate: Fate) -> FakeOperation {
        let place = onTheWay.remove(at: index)
        place.resume.resume(returning: fate)
        return place.operation
    }

    /// Releases all held requests and answers and stops holding new ones.
    func releaseAll() {
        isHolding = false
        while !onTheWay.isEmpty { _ = release(0, .arrives) }
    }

    /// The number of requests that the engine has given up, and that may still arrive.
    var lateCount: Int { late.count }

    /// Lets the cloud perform a request that the engine has given up.
    func deliverLate(_ index: Int) {
        let before = records()
        late.remove(at: index).release()
        unansweredSaves.append((before, records()))
    }

    private func travel(_ operation: FakeOperation, isRequest: Bool) async throws {
        guard isHolding else { return }
        let fate = await withCheckedContinuation { onTheWay.append((operation, $0)) }
        switch fate {
        case .arrives: return
        case .isLate(let error) where isRequest && operation == .modifyRecords:
            let hold = FakeHold()
            late.append(hold)
            fake.on(operation, .deliverLate(hold, throwing: error))
        case .fails(let error), .isLate(let error): throw error
        }
    }

    override func perform<Answer: Sendable>(
        _ operation: FakeOperation,
        _ request: @Sendable () async throws -> Answer
    ) async throws -> Answer {
        if isOff { throw CloudError(.networkUnavailable) }
        let account = base.accountGeneration
        try await travel(operation, isRequest: true)
        // A request must not run as a user who signed in after it was sent.
        if base.accountGeneration != account { throw CloudError(.networkFailure) }
        let (answer, before): (Answer, [String: Record])
        do {
            arrivingCount += 1
            defer { arrivingCount -= 1 }
            before = records()
            answer = try await request()
        }
        let after = records()
        var isReceived = false
        defer { if operation == .modifyRecords, !isReceived { unansweredSaves.append((before, after)) } }
        try await travel(operation, isRequest: false)
        // An engine that has given up, or has lost power, does not receive the answer.
        isReceived = !Task.isCancelled && !isOff
        if operation == .modifyRecords, isReceived { lastSave = (before, after) }
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
