import CodableSync
import TestSupport

/// A device's connection to the cloud; on demand it breaks after the cloud has performed a request and before the
/// response arrives.
final class LossyDatabase: ForwardingDatabase, @unchecked Sendable {
    // Sendable, since its mutable state is guarded.

    private enum Line {
        case open
        /// The number of responses to saves until the connection breaks.
        case dying(answers: Int)
        case dead
    }

    private let line = Guarded(Line.open)
    private let maximumItems: Int

    /// Creates a connection.
    ///
    /// - Parameters:
    ///   - cloud: The cloud.
    ///   - maximumItems: The maximum number of records in one request.
    init(_ cloud: LocalDatabase, maximumItems: Int) {
        self.maximumItems = maximumItems
        super.init(cloud)
    }

    override var limits: DatabaseLimits {
        var limits = super.limits
        limits.maximumItems = maximumItems
        return limits
    }

    /// Loses the response to one of the next saves, and all later ones.
    func loseResponse(ofSave number: Int) {
        line.withLock { $0 = .dying(answers: number) }
    }

    func repair() {
        line.withLock { $0 = .open }
    }

    override func perform<Answer: Sendable>(
        _ operation: FakeOperation,
        _ request: @Sendable () async throws -> Answer
    ) async throws -> Answer {
        if case .dead = line.withLock({ $0 }) { throw CloudError(.networkUnavailable) }
        let answer = try await request()
        if operation == .modifyRecords { try deliverAnswer() }
        return answer
    }

    private func deliverAnswer() throws {
        try line.withLock { line in
            guard case .dying(let answers) = line else { return }
            line = answers > 1 ? .dying(answers: answers - 1) : .dead
            if case .dead = line { throw CloudError(.serverResponseLost) }
        }
    }
}
