/// The requests in flight: one about zones and records, and beside it look-ups of the account and the subscription.
struct OpenRequests: Equatable, Sendable {
    struct Open: Equatable, Sendable {
        let id: RequestID
        let request: CloudRequest
        /// When the request counts as lost; `nil` once its response is here.
        fileprivate(set) var deadline: Duration?
    }

    private var requests: [Open] = []

    var isEmpty: Bool { requests.isEmpty }

    /// The request about a subject.
    subscript(subject: Subject) -> Open? {
        requests.first { $0.request.subject == subject }
    }

    /// Whether there is a request about one of these subjects.
    func contains(_ subjects: Subject...) -> Bool {
        requests.contains { subjects.contains($0.request.subject) }
    }

    /// The request with this number.
    func request(_ id: RequestID) -> CloudRequest? {
        requests.first { $0.id == id }?.request
    }

    var deadlines: [Duration?] { requests.map(\.deadline) }

    /// The requests whose responses are overdue.
    func overdue(at now: Moment) -> [RequestID] {
        requests.filter { now.hasReached($0.deadline) }.map(\.id)
    }

    mutating func begin(_ id: RequestID, _ request: CloudRequest, deadline: Duration) {
        requests.append(Open(id: id, request: request, deadline: deadline))
    }

    /// Ends the request that a response belongs to.
    ///
    /// - Parameter id: The number of the request.
    /// - Returns: The request; `nil` if it has ended before, so that the response is ignored.
    mutating func end(_ id: RequestID) -> CloudRequest? {
        requests.firstIndex { $0.id == id }.map { requests.remove(at: $0).request }
    }

    /// Ends the requests about some subjects, whose responses are ignored from now on.
    mutating func end(_ subjects: Subject...) {
        requests.removeAll { subjects.contains($0.request.subject) }
    }

    /// Gives the response to a request more time.
    mutating func extend(_ id: RequestID, by time: Duration) {
        for index in requests.indices where requests[index].id == id { requests[index].deadline? += time }
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
        requests.begin(id, request, deadline: now.monotonic + configuration.requestDeadline)
        actions.append(.request(id, request))
    }
}
