import CodableSync

/// A device's line to the cloud: it goes dead on demand, after the cloud has done what it was asked to and before
/// the answer arrives.
final class LossyDatabase: ForwardingDatabase, @unchecked Sendable {
    // Sendable, since what changes is guarded.

    private enum Line {
        case open
        /// It goes dead in this many answers to saves.
        case dying(answers: Int)
        case dead
    }

    private let line = Guarded(Line.open)
    private let maximumItems: Int

    /// Makes a line.
    ///
    /// - Parameters:
    ///   - cloud: Where it leads.
    ///   - maximumItems: The most records in one request.
    init(_ cloud: LocalDatabase, maximumItems: Int) {
        self.maximumItems = maximumItems
        super.init(cloud)
    }

    override var limits: DatabaseLimits {
        var limits = super.limits
        limits.maximumItems = maximumItems
        return limits
    }

    /// Loses the answer to one of the next saves, and all that comes after it.
    func loseAnswer(ofSave number: Int) {
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
