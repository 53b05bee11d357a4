@testable import CodableSync

extension StateLocation {
    /// Opens the state as a core does.
    func open(at now: Moment) async throws -> OpenedState {
        try await Self.besideTheActor { try openLast(at: now) }
    }
}
