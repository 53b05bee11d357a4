import RecordCoding

/// One user's state.
package struct StateUser: Equatable, Sendable {
    /// The number of the directory.
    package var number: Int64
    /// `nil` while nobody has claimed it.
    package var name: String?

    package init(number: Int64, name: String? = nil) {
        self.number = number
        self.name = name
    }
}

/// `users.json`: whose the directories are, first the user who was here last.
enum UserIndex {
    private static func file(in path: String) -> String { path.appending(path: "users.json") }

    static func write(_ users: [StateUser], to path: String, _ fileSystem: any FileSystem) throws(FileError) {
        try fileSystem.writeAtomically(bytes(of: users), to: file(in: path))
    }

    private static func bytes(of users: [StateUser]) -> [UInt8] {
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
        json.endObject()
        return json.bytes + [UInt8(ascii: "\n")]
    }

    /// Reads the index; there is none before a second user comes.
    static func read(from path: String, _ fileSystem: any FileSystem) throws -> [StateUser] {
        let file = file(in: path)
        do {
            guard try fileSystem.status(of: file) != nil else { return [] }
            var json = JSONReader(try fileSystem.readFile(file))
            return try read(&json, file)
        } catch let error as FileError {
            throw StateDirectory.Failure.unreadable(error.message)
        } catch let error as JSONError {
            throw damaged(file, "\(error)")
        }
    }

    private static func read(_ json: inout JSONReader, _ file: String) throws -> [StateUser] {
        var users: [StateUser]?
        try json.beginObject()
        while let key = try json.nextKey() {
            switch key {
            case "version":
                let version = try json.int()
                if version > 1 {
                    throw StateDirectory.Failure.tooNew(
                        "\"\(file.shortenedForMessage)\" has format version \(version)"
                    )
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
        guard let users, users.allSatisfy({ (1..<Int64.max).contains($0.number) }),
            Set(users.map(\.number)).count == users.count
        else { throw damaged(file, "it does not say whose the directories are") }
        return users
    }

    private static func readUser(_ json: inout JSONReader) throws -> StateUser {
        var user = StateUser(number: 0, name: nil)
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

    private static func damaged(_ file: String, _ reason: String) -> StateDirectory.Failure {
        .unreadable(
            "\"\(file.shortenedForMessage)\": \(reason). Move the file away: whose the directories are is then "
                + "found in them again."
        )
    }
}
