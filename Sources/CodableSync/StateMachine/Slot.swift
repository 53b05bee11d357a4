/// The place of the one request about the zone and its records: whose turn it is, and how long a change waits.
struct Slot: Sendable {
    /// How long a change waits for a page or a look-up before that request is abandoned.
    static var patience: Duration { .seconds(5) }

    /// Whether the last request was a page, so that a send comes next.
    var isSendsTurn = false
    /// Whether changes have waited long enough, so that a send comes next and waits for no first page.
    var isOverdue = false
    /// The page request or look-up that a queued change is waiting for, and when it has waited long enough.
    var demand: (request: RequestID, end: Duration)?
}
