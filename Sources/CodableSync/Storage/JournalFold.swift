import RecordCoding

/// Thrown for an entry of a kind that only a newer version of the library writes; nothing was changed.
package struct NewerEntry: Error, Equatable, CustomStringConvertible {
    package var path: String
    package var offset: UInt64
    package var kind: String

    package var description: String {
        "\"\(path.shortenedForMessage)\" has an entry of the unknown kind \(kind.quoted) at byte \(offset). "
            + "Update the app, or use another directory."
    }
}

/// Thrown for a stored line that has become unusable.
struct UnusableLine: Error, CustomStringConvertible {
    var position: LogPosition
    var reason: String

    var description: String {
        let file = LogFileName(identifier: position.file).text
        return
            "\(file) has a line at byte \(position.offset) that cannot be used: \(reason.withoutPeriod). The files stay as they are."
    }
}

/// The result of applying the journal's lines: the state, and the positions of the contents.
struct JournalFold {
    private(set) var state = SyncState()
    private(set) var positions: [ContentHandle: LogPosition] = [:]
    private(set) var lastHandle: UInt64 = 0

    /// The user in the headers of the files, if any.
    private let owner: String?
    /// What the state must belong to; `nil` if anything is allowed.
    private let identity: StateIdentity?
    /// A file in which another user has claimed the state, so that the rest of it is that user's.
    private var foreignFile: UInt32?

    /// Creates an empty fold.
    ///
    /// - Parameters:
    ///   - owner: The user in the headers of the files, if any.
    ///   - identity: What the state must belong to; `nil` if anything is allowed.
    init(owner: String? = nil, identity: StateIdentity? = nil) {
        self.owner = owner
        self.identity = identity
        keepOwner()
    }

    /// Applies a line.
    ///
    /// - Returns: Messages about parts of the line that had to be left out.
    /// - Throws: ``JournalLineError`` or `JSONError`; the line has no effect then. `ForeignState` if the state belongs to
    ///   something else.
    mutating func take(_ bytes: [UInt8], at position: LogPosition) throws -> [String] {
        let line = try JournalLine.parse(bytes)
        for (handle, _) in line.contents where positions[handle] != nil {
            // Contents are written only once, so a repetition is a line that was copied to another place.
            throw JournalLineError.malformed("it repeats contents \(handle.number), which came before")
        }
        try checkOwner(line.line, at: position)
        // A snapshot's summary has no line before it.
        guard line.highestHandle <= max(lastHandle, line.lastHandle) + Self.longestJump else {
            throw JournalLineError.malformed("its handle is too far from those before it")
        }
        // Not of a line that is left out.
        try checkIdentity(line.line)
        for (handle, range) in line.contents { positions[handle] = position.part(range) }
        lastHandle = max(lastHandle, line.highestHandle)
        state.apply(line: line.line)
        state.forgetWhatChanged()
        keepOwner()
        return line.problems
    }

    private func checkIdentity(_ line: StateLine) throws {
        guard case .row(.summary(let summary)) = line, let identity,
            let difference = summary.identity?.firstDifference(from: identity)
        else { return }
        throw ForeignState(difference: difference.inWords)
    }

    /// Refuses a file of another user whose header cannot be read.
    private mutating func checkOwner(
        _ line: StateLine,
        at position: LogPosition
    ) throws(JournalLineError) {
        if case .row(.summary(let summary)) = line, let user = summary.user, let owner = state.summary.user,
            !owner.isIdentical(to: user)
        {
            foreignFile = position.file
        }
        if foreignFile == position.file { throw .malformed("it says that the state is another user's") }
    }

    /// Sets the owner from the headers, if a snapshot is older than the claim.
    private mutating func keepOwner() {
        guard let owner, state.summary.user == nil else { return }
        state.changeSummary { $0.user = owner }
    }

    /// The largest plausible gap between handles, which are consecutive; a larger one is damage.
    private static var longestJump: UInt64 { 1 << 48 }

    /// Applies a line that was read or written before.
    ///
    /// - Parameters:
    ///   - bytes: The line.
    ///   - position: Its position.
    ///   - wasReported: Whether it was unusable at the opening, so that its unusable part is left out again.
    /// - Throws: ``UnusableLine`` if a line that was usable before no longer is, so that no snapshot may
    ///   replace it.
    mutating func takeAgain(_ bytes: [UInt8], at position: LogPosition, wasReported: Bool) throws {
        do {
            let problems = try take(bytes, at: position)
            if problems.isEmpty || wasReported { return }
            throw UnusableLine(position: position, reason: problems.joined(separator: "; "))
        } catch  where wasReported {
            return
        } catch let error as UnusableLine {
            throw error
        } catch {
            throw UnusableLine(position: position, reason: "\(error)")
        }
    }
}

extension JournalLine.Parsed {
    /// The highest handle that the line stores, names, or gives as the last one.
    fileprivate var highestHandle: UInt64 {
        let stored = contents.lazy.map(\.0.number).max() ?? 0
        let named = line.handles.lazy.map(\.number).max() ?? 0
        return max(stored, named, lastHandle)
    }
}
