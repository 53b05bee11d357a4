import RecordCoding

/// The engine's directory: a lock for its one owner, and a state for each user below it.
///
/// `lock` · `users.json`, which says whose the directories are · `users/1/`, `users/2/` … with a journal each.
package final class StateDirectory: Sendable {
    /// Why a directory cannot be used.
    package enum Failure: Error, Equatable {
        case inUse(by: String)
        case full(String)
        case tooNew(String)
        case unreadable(String)
    }

    /// One user's state.
    struct User: Equatable, Sendable {
        var number: Int64
        /// `nil` while nobody has claimed it.
        var name: String?
    }

    private let path: String
    private let fileSystem: any FileSystem
    private let lock: any FileLock
    private let users: Locked<[User]>

    /// Takes possession of a directory.
    ///
    /// - Parameters:
    ///   - path: The directory; it is made if it is missing.
    ///   - fileSystem: How to reach it.
    /// - Throws: ``Failure``; then nothing was changed.
    package init(path: String, fileSystem: any FileSystem) throws {
        self.path = path
        self.fileSystem = fileSystem
        do {
            try fileSystem.createDirectory(at: path)
            switch try fileSystem.lock(path.appending(path: "lock"), waiting: false) {
            case .acquired(let lock): self.lock = lock
            case .held(let process):
                throw Failure.inUse(by: process.map { "process \($0)" } ?? "another process")
            }
        } catch {
            throw Failure(error, in: path)
        }
        do {
            users = Locked(try Self.readUsers(path, fileSystem))
        } catch {
            lock.release()
            throw error
        }
    }

    /// The user who was confirmed last; `nil` if nobody ever was.
    package var lastUser: String? { users.withLock { $0.first?.name } }

    /// Opens the state of the user who was confirmed last, or the one that nobody has claimed yet.
    ///
    /// - Returns: The store and the state.
    /// - Throws: ``Failure``.
    package func openLast() throws -> JSONStateStore.Opened {
        let number = users.withLock { users -> Int64 in
            if users.isEmpty { users = [User(number: 1, name: nil)] }
            return users.first?.number ?? 1
        }
        let directory = path.appending(path: "users").appending(path: String(number))
        do {
            return try JSONStateStore.open(directory: directory, fileSystem: fileSystem)
        } catch {
            throw Failure(error, in: directory)
        }
    }

    /// Gives the state that is open to the first user who was confirmed, whole and in one step.
    ///
    /// - Parameter name: The user record name.
    /// - Throws: ``Failure`` if it could not be stored.
    package func claim(for name: String) throws {
        try users.withLock { users in
            var claimed = users
            guard claimed.first?.name == nil, !claimed.isEmpty else { return }
            claimed[0].name = name
            do {
                try fileSystem.writeAtomically(
                    Self.bytes(of: claimed),
                    to: path.appending(path: "users.json")
                )
            } catch {
                throw Failure.unreadable("\(error)")
            }
            users = claimed
        }
    }

    /// Lets another owner in.
    package func release() {
        lock.release()
    }

    // MARK: users.json

    private static func bytes(of users: [User]) -> [UInt8] {
        var json = JSONWriter(reserving: 256)
        json.beginObject()
        json.key("format")
        json.string("codablesync-users")
        json.key("version")
        json.int(1)
        json.key("users")
        json.beginArray()
        for user in users {
            json.beginObject()
            json.key("directory")
            json.int(user.number)
            if let name = user.name {
                json.key("name")
                json.string(name)
            }
            json.endObject()
        }
        json.endArray()
        json.endObject()
        return json.bytes + [UInt8(ascii: "\n")]
    }

    private static func readUsers(_ path: String, _ fileSystem: any FileSystem) throws -> [User] {
        let file = path.appending(path: "users.json")
        do {
            guard try fileSystem.status(of: file) != nil else { return [] }
            var json = JSONReader(try fileSystem.readFile(file))
            return try read(&json, file)
        } catch let error as FileError {
            throw Failure.unreadable(error.message)
        } catch let error as JSONError {
            throw damaged(file, "\(error)")
        }
    }

    private static func read(_ json: inout JSONReader, _ file: String) throws -> [User] {
        var users: [User]?
        try json.beginObject()
        while let key = try json.nextKey() {
            switch key {
            case "version":
                let version = try json.int()
                if version > 1 {
                    throw Failure.tooNew("\"\(file.shortenedForMessage)\" has format version \(version)")
                }
            case "users":
                users = []
                try json.beginArray()
                while try json.nextElement() { users?.append(try readUser(&json)) }
            default: try json.skipValue()
            }
        }
        try json.end()
        // A directory that nobody or two of them own could be opened for the wrong one.
        guard let users, users.allSatisfy({ $0.number > 0 }), Set(users.map(\.number)).count == users.count
        else { throw damaged(file, "it does not say whose the directories are") }
        return users
    }

    private static func readUser(_ json: inout JSONReader) throws -> User {
        var user = User(number: 0, name: nil)
        try json.beginObject()
        while let key = try json.nextKey() {
            switch key {
            case "directory": user.number = try json.int()
            case "name": user.name = try json.string()
            default: try json.skipValue()
            }
        }
        return user
    }

    private static func damaged(_ file: String, _ reason: String) -> Failure {
        .unreadable(
            "\"\(file.shortenedForMessage)\": \(reason). Move the file away to start without its users."
        )
    }
}
