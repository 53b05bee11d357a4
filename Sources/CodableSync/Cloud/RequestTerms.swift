/// What an engine tells its database about the requests of a task.
///
/// It is a value of the task and not part of a request, since most databases have no use for it, and a database that
/// forwards requests to another passes it on without knowing it.
package struct RequestTerms: Sendable {
    /// The terms of the current task's requests; `nil` if no engine makes them.
    @TaskLocal package static var current: RequestTerms?

    /// Whether a call of the app waits for the response: a sync or one of its parts, a push or a background task.
    package var isAwaited: Bool
    /// How long the engine waits for the response.
    package var deadline: Duration
    /// Called when the request begins or ends to wait on this device, for others or for the user, before it is sent.
    package var noteWaiting: @Sendable (_ isWaiting: Bool) -> Void

    package init(
        isAwaited: Bool,
        deadline: Duration,
        noteWaiting: @escaping @Sendable (_ isWaiting: Bool) -> Void
    ) {
        self.isAwaited = isAwaited
        self.deadline = deadline
        self.noteWaiting = noteWaiting
    }
}
