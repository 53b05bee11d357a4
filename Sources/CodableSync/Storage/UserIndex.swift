import RecordCoding

/// One user's state.
package struct StateUser: Equatable, Sendable {
    /// The number of the user's directory.
    package var number: Int64
    /// The user record name; `nil` if no user has claimed the state.
    package var name: String?

    package init(number: Int64, name: String? = nil) {
        self.number = number
        self.name = name
    }
}

/// A switch that the app may not know of, because the process may have ended before notifying it.
package struct PendingSwitchNotice: Equatable, Sendable {
    /// The former user; `nil` if the app was notified of their sign-out.
    package var from: String?
}

/// The file `users.json`, which lists the users' directories, starting with the last known user's.
enum UserIndex {
    private static func file(in path: String) -> String { path.appending(path: "users.json") }

    static func write(
        _ users: [StateUser],
        _ notice: PendingSwitchNotice? = nil,
        to path: String,
        _ fileSystem: any FileSystem
    ) throws(FileError) {
        try fileSystem.writeAtomically(bytes(of: users, notice), to: file(in: path))
    }

    private static func bytes(of users: [StateUser], _ notice: PendingSwitchNotice?) -> [UInt8] {
        var json = JSONWriter(reserving: 256)
        json.beginObject()
        json.member("format", "codablesync-users")
        json.key("version")
        json.int(1)
        json.key("users")
        json.beginArray()
        for user in users {
            json.beginObject()
            json.key("directory")
            json.int(user.number)
            json.member("name", user.name)
            json.endObject()
        }
        json.endArray()
        if let notice {
            json.key("untold")
            json.beginObject()
            if let from = notice.from { json.member("from", from) }
            json.endObject()
        }
        json.endObject()
        return json.bytes + [UInt8(ascii: "\n")]
    }

    /// The contents of the index.
    struct Contents {
        /// The users, starting with the last known one; empty if there is no index, as before a second user
        /// signs in.
        var users: [StateUser] = []
        /// The switch to the last known user, unless the app was notified of it.
        var notice: PendingSwitchNotice?
        /// What is wrong with the index, and the name of its copy, if it is unreadable.
        var damage: String?
    }

    /// Reads the index.
    ///
    /// A damaged index is copied aside, since the journals also name their owners.
    static func read(from path: String, _ fileSystem: any FileSystem) throws -> Contents {
        let file = file(in: path)
        do {
            guard try fileSystem.status(of: file) != nil else { return Contents() }
            let bytes = try fileSystem.readFile(file)
            do {
                var json = JSONReader(bytes)
                return try read(&json, file)
            } catch let error where error is JSONError || error is Damage {
                let copy = try keepAside(bytes, in: path, fileSystem)
                return Contents(
                    damage:
                        "\"\(file.shortenedForMessage)\" is damaged: \("\(error)".withoutPeriod). The damaged file is kept as "
                        + "\(copy). The users of the directories were read from the directories again."
                )
            }
        } catch let error as FileError {
            throw StateDirectory.Failure(error, in: path)
        }
    }

    /// Removes the index.
    static func remove(from path: String, _ fileSystem: any FileSystem) throws(FileError) {
        try fileSystem.remove(file(in: path))
    }

    /// Copies a damaged index, unless it was copied before.
    private static func keepAside(
        _ bytes: [UInt8],
        in path: String,
        _ fileSystem: any FileSystem
    ) throws(FileError) -> String {
        var number = 1
        while true {
            let name = "damaged-users.json-\(number)"
            let copy = path.appending(path: name)
            guard let status = try fileSystem.status(of: copy) else {
                try fileSystem.writeAtomically(bytes, to: copy)
                return name
            }
            if status.kind == .file, status.size == bytes.count,
                try fileSystem.readFile(copy, atMost: bytes.count) == bytes
            {
                return name
            }
            number += 1
        }
    }

    private struct Damage: Error, CustomStringConvertible {
        var description: String { "it doesn't say which user each directory belongs to" }
    }

    private static func read(_ json: inout JSONReader, _ file: String) throws -> Contents {
        var users: [StateUser]?
        var notice: PendingSwitchNotice?
        try json.members { json, key in
            switch key {
            case "version":
                let version = try json.int()
                if version > 1 {
                    throw StateDirectory.Failure.tooNew(
                        "\"\(file.shortenedForMessage)\" has format version \(version); this version of the "
                            + "library reads up to 1. Update the app, or use another directory."
                    )
                }
            case "users": users = try json.array(of: readUser)
            case "untold": notice = try readNotice(&json)
            default: try json.skipValue()
            }
        }
        try json.end()
        // With invalid or repeated numbers, a directory could be opened for the wrong user.
        guard let users, users.allSatisfy({ $0.number > 0 }),
            Set(users.map(\.number)).count == users.count
        else { throw Damage() }
        return Contents(users: users, notice: notice)
    }

    private static func readNotice(_ json: inout JSONReader) throws -> PendingSwitchNotice {
        var notice = PendingSwitchNotice()
        try json.members { json, key in
            if key == "from" { notice.from = try json.string() } else { try json.skipValue() }
        }
        return notice
    }

    private static func readUser(_ json: inout JSONReader) throws -> StateUser {
        var user = StateUser(number: 0, name: nil)
        try json.members { json, key in
            switch key {
            case "directory": user.number = try json.int()
            case "name": user.name = try json.string()
            default: try json.skipValue()
            }
        }
        return user
    }
}
