import Dispatch
import RecordCoding

/// The journal on disk, and an index of the contents in it.
///
/// Only one thread may append; contents may be read from any thread.
package final class JSONStateStore: StateStore {
    private static var format: String { "codablesync-state" }
    /// The version of the format that this library writes.
    package static var version: UInt64 { 4 }
    /// The default minimum size for a compaction.
    package static var compactionSize: UInt64 { 4 << 20 }

    /// The result of opening a journal.
    package struct Opened {
        package var store: JSONStateStore
        package var state: SyncState
        /// The first unused handle.
        package var nextHandle: UInt64
        package var recovery: LogRecovery
        /// The number of the user's directory.
        package var number: Int64 = 0
        /// Entries that make a damaged state consistent; they must be stored before anything else.
        package var repairs: [JournalEntry] = []
        /// The names of records whose edits are lost, since their contents were in a damaged line.
        package var lostEdits: [String] = []
    }

    let log: JSONLog
    let compactionSize: UInt64
    /// The label of new files.
    private let label: Locked<StateLabel>
    /// The user in the headers.
    let headerUser: String?
    let index: Locked<ContentIndex>
    /// Lines that were unusable and reported at the opening; a compaction may omit only these.
    let unreadable: Set<LogPosition>
    /// Held while lines are appended, and while a compaction begins.
    let writing = Locked(())
    let compaction = Locked(CompactionState())
    /// Runs compactions one at a time; closing waits for the last one.
    let compactionQueue = DispatchQueue(label: "CodableSync.compaction", qos: .utility)

    private init(
        log: JSONLog,
        index: ContentIndex,
        unreadable: Set<LogPosition>,
        compactionSize: UInt64,
        label: StateLabel,
        headerUser: String?
    ) {
        self.log = log
        self.unreadable = unreadable
        self.compactionSize = compactionSize
        self.label = Locked(label)
        self.headerUser = headerUser
        self.index = Locked(index)
    }

    /// Opens the journal in a directory, and reads the state from it.
    ///
    /// - Parameters:
    ///   - directory: The directory of the journal; it is created if it is missing.
    ///   - fileSystem: The file system.
    ///   - identity: What the journal must belong to; `nil` accepts any identity.
    ///   - user: The expected user, if known: files of another user next to this user's files count as
    ///     damage.
    ///   - compactionSize: The size from which the files are compacted if that saves enough space.
    ///   - newLog: Draws the random number of a new log.
    /// - Returns: The store, the state, and the findings.
    /// - Throws: `FileError`, `LogError`, ``NewerEntry``, or `ForeignState`.
    package static func open(
        directory: String,
        fileSystem: any FileSystem,
        identity: StateIdentity? = nil,
        user: String? = nil,
        compactionSize: UInt64 = JSONStateStore.compactionSize,
        newLog: @escaping () -> UInt64 = LogMembership.anyNumber
    ) throws -> Opened {
        var fold = JournalFold(identity: identity)
        // A new log is created for this user; an existing log names its own user.
        var label = StateLabel(identity: identity, user: user)
        var headerUser: String?
        var unreadable: Set<LogPosition> = []
        let membership = LogMembership(newLog: newLog) { headers in
            let judged = try StateMembership(identity: identity, expectedUser: user).judge(headers)
            label = judged.label
            headerUser = label.user
            fold = JournalFold(owner: headerUser, identity: identity)
            return judged.foreignFiles
        } label: {
            label.identity = label.identity ?? fold.state.summary.identity
            label.user = fold.state.summary.user ?? label.user
            return label.encoded
        }
        let (log, recovery) = try JSONLog.open(
            directory: directory,
            fileSystem: fileSystem,
            format: format,
            version: version,
            oldestVersion: version,
            membership: membership
        ) { line, position in
            do {
                let problems = try fold.take(Array(line), at: position)
                if !problems.isEmpty { throw UnreadableLine(problems.joined(separator: "; ")) }
            } catch let foreign as ForeignState {
                throw foreign
            } catch JournalLineError.unknownKind(let kind) {
                let file = directory.appending(path: LogFileName(identifier: position.file).text)
                throw NewerEntry(path: file, offset: position.offset, kind: kind)
            } catch {
                unreadable.insert(position)
                let reason = error is JSONError ? "\(error) of the line" : "\(error)"
                throw (error as? UnreadableLine) ?? UnreadableLine(reason)
            }
        }
        let store = JSONStateStore(
            log: log,
            index: ContentIndex(fold.positions),
            unreadable: unreadable,
            compactionSize: compactionSize,
            label: label,
            headerUser: headerUser
        )
        return Opened(
            store: store,
            state: fold.state,
            nextHandle: fold.lastHandle + 1,
            recovery: recovery,
            repairs: recovery.isDamaged ? StateRepair.entries(for: fold) : [],
            lostEdits: recovery.isDamaged ? StateRepair.lostEdits(in: fold) : []
        )
    }

    package func append(_ batches: [JournalBatch]) throws {
        var groups: [LogGroup] = []
        var places: [[JournalLine.Place]] = []
        do {
            for batch in batches {
                if let handle = batch.contents.keys.max(), handle.number >= ContentHandle.limit {
                    throw JournalFailure.unreadable("There is no number left for what is to be stored.")
                }
                var group = LogGroup()
                // Contents are written once.
                var contents = index.withLock { index in batch.contents.filter { index[$0.key] == nil } }
                for stated in batch.lines {
                    let line = Self.line(of: stated, taking: &contents)
                    try group.append(line.bytes)
                    places.append(line.places)
                }
                groups.append(group)
            }
            try writing.withLock { _ in
                let positions = try log.commit(groups, flush: batches.contains { $0.flush })
                index.withLock { index in
                    for (position, places) in zip(positions, places) {
                        for place in places { index[place.handle] = position.part(place.range) }
                    }
                }
            }
            for batch in batches { relabel(after: batch.lines) }
        } catch let failure as JournalFailure {
            throw failure
        } catch let error as FileError {
            throw error.isOutOfSpace
                ? JournalFailure.storageFull(error.message) : JournalFailure.unreadable(error.message)
        } catch let error as LogError {
            throw JournalFailure.unreadable(error.message(.state))
        } catch {
            throw JournalFailure.unreadable("\(error)")
        }
    }

    /// Puts the owner into the headers of later files.
    private func relabel(after lines: [StateLine]) {
        for case .row(.summary(let summary)) in lines {
            let encoded = label.withLock { label -> [UInt8]? in
                let former = label
                label.identity = label.identity ?? summary.identity
                label.user = label.user ?? summary.user
                return label == former ? nil : label.encoded
            }
            if let encoded { log.relabel(encoded) }
        }
    }

    private static func line(
        of line: StateLine,
        taking contents: inout [ContentHandle: Record]
    ) -> (bytes: [UInt8], places: [JournalLine.Place]) {
        if contents.isEmpty { return JournalLine.make(line) }
        let named = line.handles.compactMap { handle in
            contents.removeValue(forKey: handle).map { record in
                (handle: handle, write: { (json: inout JSONWriter) in json.contents(record) })
            }
        }
        return JournalLine.make(line, contents: named)
    }

    package func load(_ handles: [ContentHandle]) throws -> StoredContents {
        var contents = StoredContents()
        for handle in handles {
            guard let bytes = try read(handle) else { continue }
            do {
                contents.records[handle] = try JournalLine.record(inContents: bytes)
            } catch {
                contents.unreadable[handle] = "The stored contents cannot be read: \(error)"
            }
        }
        return contents
    }

    /// Reads contents from their position, which compactions may change in the meantime.
    private func read(_ handle: ContentHandle) throws -> [UInt8]? {
        while let position = index.withLock({ $0[handle] }) {
            do {
                return try log.read(position)
            } catch LogError.unknownPosition where index.withLock({ $0[handle] }) != position {
                continue
            } catch LogError.closed {
                throw JournalFailure.unreadable("The state is closed.")
            }
        }
        return nil
    }

    package func close() {
        // The compaction reads files that are about to be closed. It is not cancelled, since a short-lived
        // process would then never finish one.
        compactionQueue.sync { goOnCompacting() }
        log.close()
    }
}
