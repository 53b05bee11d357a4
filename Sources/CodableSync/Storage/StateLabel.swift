import RecordCoding

/// The label in the header of a state's file: what the state belongs to and its user, as far as known when
/// the file was created.
struct StateLabel: Equatable, Sendable {
    var identity: StateIdentity?
    var user: String?

    /// One JSON value on one line.
    var encoded: [UInt8] {
        var json = JSONWriter(reserving: 256)
        json.beginObject()
        if let identity { json.identityMembers(identity) }
        json.member("user", user)
        json.endObject()
        return json.bytes
    }

    init(identity: StateIdentity? = nil, user: String? = nil) {
        self.identity = identity
        self.user = user
    }

    /// Reads a label; members that an older version did not write stay `nil`.
    init(_ label: [UInt8]) throws {
        var identity = StateIdentity(cloud: "", scope: "", container: nil, zone: "", recordType: "")
        var isNamed = false
        var json = JSONReader(label)
        try json.members { json, key in
            if key == "user" {
                user = try json.string()
            } else {
                isNamed = true
                try json.identityMember(key, of: &identity)
            }
        }
        try json.end()
        if isNamed { self.identity = identity }
    }
}

/// The error for a directory in which every file belongs to something else; nothing was changed.
struct ForeignState: Error {
    /// A message that names both sides.
    var difference: String
}

/// Distinguishes the files of a user's state from those of other zones, users and logs.
struct StateMembership {
    /// What the state must belong to; `nil` accepts any identity.
    var identity: StateIdentity?
    /// The user whose state is expected, if known.
    var expectedUser: String?

    /// The files that are not part of this state, each with the reason, and the label of the others.
    ///
    /// A log belongs to something else if one of its files does. Of several logs in the directory, the state
    /// is the one that names the expected user; else one that names no user; else that of the first file.
    func judge(_ headers: [LogHeader]) throws(ForeignState) -> (
        foreignFiles: [LogFileName: String], label: StateLabel
    ) {
        let logs = self.logs(of: headers)
        let own = logs.filter { $0.difference == nil }
        let named = own.first { log in log.files.contains { isExpected($0.label.user) } }
        let unnamed = own.first { log in log.files.allSatisfy { $0.label.user == nil } }
        guard let log = (expectedUser == nil ? nil : named ?? unnamed) ?? own.first else {
            if let foreign = logs.first?.difference { throw ForeignState(difference: foreign.inWords) }
            return ([:], StateLabel(identity: identity, user: nil))
        }
        let users = log.files.compactMap(\.label.user)
        let user = users.first(where: isExpected) ?? users.first
        var foreignFiles: [LogFileName: String] = [:]
        for other in logs {
            for file in other.files {
                if let difference = other.difference {
                    foreignFiles[file.name] = difference.reason
                } else if let theirs = file.label.user, let user, !theirs.isIdentical(to: user) {
                    foreignFiles[file.name] = "it is another user's"
                } else if other.number != log.number {
                    foreignFiles[file.name] = "it is part of another log"
                }
            }
        }
        let found = log.files.lazy.compactMap(\.label.identity).first
        return (foreignFiles, StateLabel(identity: identity ?? found, user: user))
    }

    /// The label of a header; if it is unreadable, the files with the same log number and the lines have its
    /// values.
    private static func label(of header: LogHeader) -> StateLabel {
        do {
            return try StateLabel(header.label)
        } catch {
            return StateLabel()
        }
    }

    private func isExpected(_ user: String?) -> Bool {
        guard let user, let expectedUser else { return false }
        return user.isIdentical(to: expectedUser)
    }

    /// The files of one log.
    private struct Log {
        var number: UInt64
        var files: [(name: LogFileName, label: StateLabel)] = []
        var difference: StateIdentity.Difference?
    }

    private func logs(of headers: [LogHeader]) -> [Log] {
        var logs: [Log] = []
        for header in headers {
            let index = logs.firstIndex { $0.number == header.log } ?? logs.count
            if index == logs.count { logs.append(Log(number: header.log)) }
            let label = Self.label(of: header)
            logs[index].files.append((header.name, label))
            guard let identity, logs[index].difference == nil else { continue }
            logs[index].difference = label.identity?.firstDifference(from: identity)
        }
        return logs
    }
}
