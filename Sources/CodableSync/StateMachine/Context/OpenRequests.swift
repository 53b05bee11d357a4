/// The requests in flight: one about zones and records, and beside it look-ups of the account and the subscription.
struct OpenRequests: Equatable, Sendable {
    private struct Open: Equatable, Sendable {
        let id: RequestID
        let subject: Subject
        /// When the request counts as lost; `nil` once its response is here.
        var deadline: Duration?
    }

    private var requests: [Open] = []

    var isEmpty: Bool { requests.isEmpty }

    /// The request about a subject.
    subscript(subject: Subject) -> RequestID? {
        requests.first { $0.subject == subject }?.id
    }

    /// Whether there is a request about one of these subjects.
    func contains(_ subjects: Subject...) -> Bool {
        requests.contains { subjects.contains($0.subject) }
    }

    func subject(of id: RequestID) -> Subject? {
        requests.first { $0.id == id }?.subject
    }

    func deadline(of id: RequestID) -> Duration? {
        requests.first { $0.id == id }?.deadline
    }

    var deadlines: [Duration?] { requests.map(\.deadline) }

    /// The requests whose responses are overdue.
    func overdue(at now: Moment) -> [RequestID] {
        requests.filter { $0.deadline.map { $0 <= now.monotonic } ?? false }.map(\.id)
    }

    mutating func begin(_ id: RequestID, _ subject: Subject, deadline: Duration) {
        requests.append(Open(id: id, subject: subject, deadline: deadline))
    }

    /// Ends the request about a subject, whose response is ignored from now on.
    mutating func end(_ subject: Subject) {
        requests.removeAll { $0.subject == subject }
    }

    /// Gives a request all the time that it needs, since its response is here and is held.
    mutating func hold(_ id: RequestID) {
        for index in requests.indices where requests[index].id == id { requests[index].deadline = nil }
    }
}

extension SyncContext {
    /// Makes a request.
    mutating func begin(_ request: CloudRequest) {
        let id = nextNumber()
        requests.begin(id, request.subject, deadline: now.monotonic + configuration.requestDeadline)
        actions.append(.request(id, request))
    }

    /// Ends the request about a subject if this is its response; late responses are ignored.
    mutating func takes(_ response: RequestID, of subject: Subject) -> Bool {
        guard requests[subject] == response else { return false }
        requests.end(subject)
        return true
    }
}
