import Foundation

@testable import CodableSync

/// The contents of a disk: the flushed bytes and pending operations of each file, and the same for the names
/// in each directory.
struct SimulatedDisk {
    /// A file, which may have had several names.
    ///
    /// `@unchecked Sendable` holds because the file system that owns it uses it only while holding its lock.
    final class File: @unchecked Sendable {
        let number: UInt64
        /// The contents that a program reads.
        private(set) var current: [UInt8] = []
        /// The contents that survive any power loss.
        private(set) var synced: [UInt8] = []
        private(set) var unsynced: [Change] = []

        enum Change {
            case write([UInt8], at: Int)
            case truncate(Int)
        }

        init(number: UInt64, bytes: [UInt8] = []) {
            self.number = number
            current = bytes
            synced = bytes
        }

        func change(_ change: Change) {
            Self.apply(change, to: &current)
            unsynced.append(change)
        }

        func sync() {
            for change in unsynced { Self.apply(change, to: &synced) }
            unsynced = []
        }

        /// After a failed flush, the data counts as written but is lost.
        func lose() { unsynced = [] }

        static func apply(_ change: Change, to bytes: inout [UInt8]) {
            switch change {
            case .write(let written, let offset):
                if bytes.count < offset { bytes += [UInt8](repeating: 0, count: offset - bytes.count) }
                let end = min(offset + written.count, bytes.count)
                bytes.replaceSubrange(offset..<end, with: written)
            case .truncate(let size):
                if size < bytes.count { bytes.removeLast(bytes.count - size) }
                if size > bytes.count { bytes += [UInt8](repeating: 0, count: size - bytes.count) }
            }
        }
    }

    struct Call: Hashable {
        var kind: FileError.Operation
        var path: String
    }

    struct Fault {
        var kind: FileError.Operation
        var remaining: Int
        var code: Int32
        /// The number of bytes that a failing write still writes.
        var torn: Int?
    }

    /// When the power fails, relative to a call.
    enum Moment: Hashable, CaseIterable {
        case before, after, torn
    }

    /// Which of the unflushed operations survive.
    enum Survivors: Hashable {
        case allWrites
        case onlySynced
        case random(seed: UInt64)
    }

    /// A change of the names in a directory.
    fileprivate struct Renaming {
        var removed: String?
        var added: (path: String, file: File)?
        var addedDirectory: String?
        var directory: String? { (added?.path ?? removed ?? addedDirectory)?.directoryPath }
    }

    /// All files and directories, by path.
    fileprivate struct Names {
        var files: [String: File] = [:]
        var directories: Set<String> = []

        mutating func apply(_ change: Renaming) {
            if let removed = change.removed { files[removed] = nil }
            if let (path, file) = change.added { files[path] = file }
            if let path = change.addedDirectory { directories.insert(path) }
        }

        /// Only reachable entries count: the contents of a directory without a name are lost with it.
        var reachable: Names {
            var names = Names()
            for path in directories.sorted() where names.has(path.directoryPath) {
                names.directories.insert(path)
            }
            names.files = files.filter { names.has($0.key.directoryPath) }
            return names
        }

        func has(_ path: String) -> Bool { SimulatedDisk.isRoot(path) || directories.contains(path) }
    }

    var files: [String: File] = [:]
    var directories: Set<String> = []
    var others: [String: FileKind] = [:]
    var locks: Set<String> = []
    var calls: [Call] = []
    var faults: [Fault] = []
    var room: Int?
    var powerOff: (call: Int, moment: Moment)?
    private(set) var writtenBytes = 0
    private var syncedNames = Names()
    private var unsyncedNames: [Renaming] = []
    private var lastNumber: UInt64 = 0
    private(set) var isOff = false

    // MARK: Faults

    /// Counts a call; returns whether it is performed.
    mutating func begin(_ kind: FileError.Operation, _ path: String, file: File? = nil) throws(FileError)
        -> Bool
    {
        if isOff { throw FileError(kind, path, code: EIO) }
        let number = calls.count
        calls.append(Call(kind: kind, path: path))
        if let powerOff, powerOff.call == number {
            isOff = true
            return powerOff.moment == .after
        }
        for index in faults.indices where faults[index].kind == kind {
            faults[index].remaining -= 1
            guard faults[index].remaining < 0 else { continue }
            let fault = faults.remove(at: index)
            if kind == .flush { file?.lose() }
            throw FileError(kind, path, code: fault.code)
        }
        return true
    }

    /// Ends a call; the power may fail right after it.
    func end() throws(FileError) {
        if isOff, let call = calls.last { throw FileError(call.kind, call.path, code: EIO) }
    }

    mutating func append(_ bytes: [UInt8], to file: File, _ path: String) throws(FileError) {
        let torn = faults.first { $0.kind == .append && $0.remaining == 0 }?.torn
        let isDone: Bool
        do throws(FileError) {
            isDone = try begin(.append, path)
        } catch {
            if let torn, !isOff { write(Array(bytes.prefix(torn)), to: file) }
            throw error
        }
        if isDone {
            let fitting = min(room ?? bytes.count, bytes.count)
            room? -= fitting
            write(Array(bytes.prefix(fitting)), to: file)
            if fitting < bytes.count { throw FileError(.append, path, code: ENOSPC) }
        } else if powerOff?.moment == .torn {
            write(Array(bytes.prefix(bytes.count / 2)), to: file)
        }
        try end()
    }

    private mutating func write(_ bytes: [UInt8], to file: File) {
        writtenBytes += bytes.count
        file.change(.write(bytes, at: file.current.count))
    }

    // MARK: Names

    fileprivate static func isRoot(_ path: String) -> Bool { path == "/" || path == "." }

    /// Creates a directory; its name is lost with the power until its parent is flushed.
    mutating func makeDirectory(_ path: String) throws(FileError) -> Bool {
        if directories.contains(path) { return true }
        if Self.isRoot(path) { return false }
        guard status(of: path) == nil else { throw FileError(.createDirectory, path, code: ENOTDIR) }
        let parent = path.directoryPath
        guard Self.isRoot(parent) || directories.contains(parent) else {
            throw FileError(.createDirectory, path, code: ENOENT)
        }
        directories.insert(path)
        unsyncedNames.append(Renaming(addedDirectory: path))
        return true
    }

    /// Adds a directory as if it had always existed.
    private mutating func placeDirectory(_ path: String) {
        var path = path
        while !Self.isRoot(path) {
            directories.insert(path)
            syncedNames.directories.insert(path)
            path = path.directoryPath
        }
    }

    func names(in directory: String) -> [String] {
        (Array(files.keys) + Array(others.keys) + Array(directories))
            .filter { $0.directoryPath == directory }.map { String($0.dropFirst(directory.count + 1)) }
            .sorted()
    }

    func status(of path: String) -> FileStatus? {
        if let file = files[path] {
            return FileStatus(
                kind: .file,
                identity: FileIdentity(device: 1, number: file.number),
                size: UInt64(file.current.count)
            )
        }
        let kind = others[path] ?? (directories.contains(path) ? .directory : nil)
        return kind.map { FileStatus(kind: $0, identity: FileIdentity(device: 1, number: 0), size: 0) }
    }

    mutating func place(_ bytes: [UInt8], at path: String) {
        lastNumber += 1
        let file = File(number: lastNumber, bytes: bytes)
        placeDirectory(path.directoryPath)
        files[path] = file
        syncedNames.files[path] = file
    }

    mutating func open(_ path: String, _ access: FileAccess) throws(FileError) {
        if let kind = others[path] {
            throw FileError(.open, path, code: kind == .directory ? EISDIR : ELOOP)
        }
        guard access == .replacing else { return }
        if let file = files[path] { return file.change(.truncate(0)) }
        guard directories.contains(path.directoryPath) else { throw FileError(.create, path, code: ENOENT) }
        lastNumber += 1
        let file = File(number: lastNumber)
        files[path] = file
        unsyncedNames.append(Renaming(removed: nil, added: (path, file)))
    }

    mutating func rename(_ path: String, to newPath: String) throws(FileError) {
        guard let file = files.removeValue(forKey: path) else { throw FileError(.rename, path, code: ENOENT) }
        files[newPath] = file
        unsyncedNames.append(Renaming(removed: path, added: (newPath, file)))
    }

    mutating func remove(_ path: String) throws(FileError) {
        guard files.removeValue(forKey: path) != nil else { throw FileError(.remove, path, code: ENOENT) }
        unsyncedNames.append(Renaming(removed: path, added: nil))
    }

    mutating func syncDirectory(_ path: String) {
        for change in unsyncedNames where change.directory == path { syncedNames.apply(change) }
        unsyncedNames.removeAll { $0.directory == path }
    }

    // MARK: Crashes

    func crashed(keeping survivors: Survivors) -> SimulatedDisk {
        var random = SplitMix64(seed: 0)
        var names = syncedNames
        switch survivors {
        case .allWrites: names = Names(files: files, directories: directories)
        case .onlySynced: break
        case .random(let seed):
            random = SplitMix64(seed: seed)
            for change in unsyncedNames where Bool.random(using: &random) { names.apply(change) }
        }
        names = names.reachable
        var disk = SimulatedDisk()
        for path in names.directories { disk.placeDirectory(path) }
        for (path, file) in names.files.sorted(by: { $0.key < $1.key }) {
            disk.place(file.bytes(after: survivors, &random), at: path)
        }
        return disk
    }

    /// The contents after the process was killed: every write is there, but no more of them are flushed.
    func killed() -> SimulatedDisk {
        var disk = self
        disk.locks = []
        disk.calls = []
        disk.faults = []
        disk.powerOff = nil
        disk.isOff = false
        return disk
    }
}

extension SimulatedDisk.File {
    /// The contents after a crash: any of the unflushed operations, the last of them torn.
    fileprivate func bytes(after survivors: SimulatedDisk.Survivors, _ random: inout SplitMix64) -> [UInt8] {
        switch survivors {
        case .allWrites: return current
        case .onlySynced: return synced
        case .random: break
        }
        var bytes = synced
        for (index, change) in unsynced.enumerated() where Bool.random(using: &random) {
            guard case .write(var written, let offset) = change, index == unsynced.count - 1 else {
                Self.apply(change, to: &bytes)
                continue
            }
            let kept = Int.random(in: 0...written.count, using: &random)
            if Bool.random(using: &random) {
                // The size was written, but not the data.
                written.replaceSubrange(kept..., with: [UInt8](repeating: 0, count: written.count - kept))
            } else {
                written.removeLast(written.count - kept)
            }
            Self.apply(.write(written, at: offset), to: &bytes)
        }
        return bytes
    }
}

/// A small random number generator: the same seed gives the same numbers.
struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
