/// What a restart forgets about fetching.
struct FetchProgress: Sendable {
    /// Whether there may be changes to fetch.
    var isWanted = false
    /// When there may be changes again, even without a signal.
    var pollAt: Duration?
    /// The number of the current or last run: the pages up to the end of the feed.
    var runs = 0
    var isRunning = false
    /// Whether the current run has read a page.
    var isPastFirstPage = false
    var paging = PagingWatch()
    /// How often the change token expired since a fetch last reached the end.
    var expiries = 0

    /// The number of runs that have ended.
    var endedRuns: Int { isRunning ? runs - 1 : runs }
}
