import RecordCoding

/// An entry of a kind that only a newer version of the library writes; nothing was touched.
package struct NewerEntry: Error, Equatable, CustomStringConvertible {
    package var path: String
    package var offset: UInt64
    package var kind: String

    package var description: String {
        "\"\(path.shortenedForMessage)\" has an entry of the unknown kind \(kind.quoted) at byte \(offset). "
            + "Update the app, or use another directory."
    }
}

/// A line that was stored and cannot be used any more.
struct UnusableLine: Error, CustomStringConvertible {
    var position: LogPosition
    var reason: String

    var description: String {
        let file = LogFileName(identifier: position.file).text
        return
            "\(file) has a line at byte \(position.offset) that cannot be used: \(reason). The files stay as they are."
    }
}

/// What lines amount to: the state, and where the contents are.
struct JournalFold {
    private(set) var state = SyncState()
    private(set) var positions: [ContentHandle: LogPosition] = [:]
    private(set) var lastHandle: UInt64 = 0
    /// Edits of which a later one was confirmed whose own line is lost: they are not to be sent any more.
    private(set) var superseded: [String: ContentHandle] = [:]

    /// Takes a line in.
    ///
    /// - Returns: What had to be left out of it, in words.
    /// - Throws: ``JournalLineError`` or `JSONError`; then the line changes nothing.
    mutating func take(_ bytes: [UInt8], at position: LogPosition) throws -> [String] {
        let line = try JournalLine.parse(bytes)
        for (handle, _) in line.contents where positions[handle] != nil {
            // Contents are written once: what comes again is a line that was copied to another place.
            throw JournalLineError.malformed("it repeats contents \(handle.number), which came before")
        }
        for (handle, range) in line.contents {
            positions[handle] = position.part(range)
            lastHandle = max(lastHandle, handle.number)
        }
        if case .saved(let name, let sent, _) = line.entry, positions[sent] == nil,
            let pending = state[name]?.pending?.handle, pending < sent
        {
            superseded[name] = pending
        }
        state.apply(line.entry)
        state.forgetWhatChanged()
        return line.problems
    }

    /// Takes a line in that was read or written before.
    ///
    /// - Parameters:
    ///   - bytes: The line.
    ///   - position: Where it is.
    ///   - wasReported: Whether it could not be used when it was read before: then it, or what cannot be used of it, is
    ///     left out once more.
    /// - Throws: ``UnusableLine`` if a line that was whole before is so no more, and nothing may stand for it.
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
