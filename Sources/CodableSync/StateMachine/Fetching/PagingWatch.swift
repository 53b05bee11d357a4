/// Detects a change feed that loops or that returns empty pages without end, in constant memory.
///
/// A change token is a position, so a fetch that returns to the same one gets no nearer to the end. The watch
/// remembers one token and replaces it after 1, 2, 4, … pages (Brent's cycle detection), so that it finds
/// cycles of any length.
struct PagingWatch: Equatable, Sendable {
    enum Finding: Equatable, Sendable {
        case circle
        case emptiness
    }

    /// How many returns to the same token count as a cycle; fewer may be a server error.
    static var maximumReturns: Int { 3 }
    /// How many empty pages in a row are too many; a few with new tokens are normal.
    static var maximumEmptyPages: Int { 1000 }
    /// How many truncated responses in a row are too many.
    static var maximumTruncations: Int { 3 }

    private var mark: ChangeToken?
    private var steps = 0
    private var lap = 1
    private var returns = 0
    private var last: ChangeToken?
    private var repetitions = 0
    private var emptyPages = 0
    private var truncations = 0

    /// Starts watching.
    ///
    /// - Parameter token: The change token with which the first page is requested.
    init(at token: ChangeToken? = nil) {
        mark = token
        last = token
    }

    /// Notes a page after which more are coming.
    ///
    /// - Parameters:
    ///   - token: The change token after the page.
    ///   - isEmpty: Whether the page was empty.
    /// - Returns: The problem; `nil` if the fetch may continue.
    mutating func pass(_ token: ChangeToken, isEmpty: Bool) -> Finding? {
        truncations = 0
        emptyPages = isEmpty ? emptyPages + 1 : 0
        if token == last {
            repetitions += 1
            return repetitions >= Self.maximumReturns ? .circle : nil
        }
        last = token
        repetitions = 0
        if token == mark {
            returns += 1
            steps = 0
            return returns >= Self.maximumReturns ? .circle : nil
        }
        steps += 1
        if steps == lap {
            mark = token
            lap *= 2
            steps = 0
            returns = 0
        }
        return emptyPages >= Self.maximumEmptyPages ? .emptiness : nil
    }

    /// Notes a truncated response and returns whether there were too many in a row.
    mutating func truncate() -> Bool {
        truncations += 1
        return truncations >= Self.maximumTruncations
    }
}

extension PagingWatch.Finding {
    /// The error that the caller gets.
    var error: CloudError {
        switch self {
        case .circle:
            CloudError(
                .unknown("endlessPaging"),
                message: "The server keeps returning the same change token with more to come."
            )
        case .emptiness:
            CloudError(
                .unknown("endlessPaging"),
                message: "The server keeps returning empty pages with more to come."
            )
        }
    }
}
