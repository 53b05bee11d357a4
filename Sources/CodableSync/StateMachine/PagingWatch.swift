/// Notices a change feed that leads in a circle, or that gives nothing for ever, in constant memory.
///
/// A change token is a position: whoever comes past the same one twice, without having begun anew, does not come
/// nearer to the end. One position is remembered and moved on, after 1, 2, 4, … pages (Brent's way to find a
/// cycle), so that circles of any length are found.
struct PagingWatch: Equatable, Sendable {
    enum Finding: Equatable, Sendable {
        case circle
        case emptiness
    }

    /// The same position twice in a row may be a server's mishap; three times is a rule.
    static var maximumReturns: Int { 3 }
    /// Empty pages with a new position are honest; so many in a row are not.
    static var maximumEmptyPages: Int { 1000 }
    /// Answers cut short in a row.
    static var maximumTruncations: Int { 3 }

    private var mark: ChangeToken?
    private var steps = 0
    private var lap = 1
    private var returns = 0
    private var last: ChangeToken?
    private var repetitions = 0
    private var emptyPages = 0
    private var truncations = 0

    /// Begins to watch.
    ///
    /// - Parameter token: The position from which the first page is asked for.
    init(at token: ChangeToken? = nil) {
        mark = token
        last = token
    }

    /// Notes a page that says that more is coming.
    ///
    /// - Parameters:
    ///   - token: The position after it.
    ///   - isEmpty: Whether there was nothing on it.
    /// - Returns: Why it cannot go on like this; `nil` if it can.
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

    /// Notes an answer that was cut short; whether there were too many of them in a row.
    mutating func truncate() -> Bool {
        truncations += 1
        return truncations >= Self.maximumTruncations
    }
}

extension PagingWatch.Finding {
    /// What the caller is told.
    var error: CloudError {
        switch self {
        case .circle:
            CloudError(
                .unknown("endlessPaging"),
                message: "The server answers with the same change token and more to come, again and again."
            )
        case .emptiness:
            CloudError(
                .unknown("endlessPaging"),
                message: "The server answers with empty pages and more to come, again and again."
            )
        }
    }
}
