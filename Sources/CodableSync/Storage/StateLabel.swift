import RecordCoding

/// The label in the header of a state's file: whose the state was when the file was begun.
///
/// It can be read without the rest of the file. A switch begins a file, so the number in the newest one is the state's;
/// a claim does not, so that one may name no user although the rows do.
package struct StateLabel: Equatable, Sendable {
    var identity: StateIdentity?
    /// The user record name; `nil` if no user has claimed the state.
    var user: String?
    /// See ``StateSummary/switchCount``.
    var switchCount: UInt64 = 0

    init(identity: StateIdentity? = nil, user: String? = nil) {
        self.identity = identity
        self.user = user
    }

    init(_ summary: StateSummary) {
        identity = summary.identity
        user = summary.user
        switchCount = summary.switchCount
    }

    /// One JSON value on one line.
    var encoded: [UInt8] {
        var json = JSONWriter(reserving: 256)
        json.beginObject()
        if let identity { json.identityMembers(identity) }
        json.member("user", user)
        json.member("switches", switchCount)
        json.endObject()
        return json.bytes
    }

    /// Reads a label; `nil` if it is malformed.
    init?(_ label: [UInt8]) {
        do {
            try self.init(reading: label)
        } catch {
            return nil
        }
    }

    private init(reading label: [UInt8]) throws {
        var identity = StateIdentity(cloud: "", scope: "", container: nil, zone: "", recordType: "")
        var isNamed = false
        var json = JSONReader(label)
        try json.members { json, key in
            switch key {
            case "user": user = try json.string()
            case "switches": switchCount = try json.counter()
            default:
                isNamed = true
                try json.identityMember(key, of: &identity)
            }
        }
        try json.end()
        if isNamed { self.identity = identity }
    }

    /// Throws if the state belongs to something else.
    func check(_ wanted: StateIdentity?) throws(ForeignState) {
        guard let wanted, let difference = identity?.difference(from: wanted) else { return }
        throw ForeignState(difference: difference)
    }
}

/// What the newest file of a state says.
enum NewestHeader: Equatable {
    /// There is no file.
    case missing
    case damaged
    case label(StateLabel)
}

/// The error for a directory whose state belongs to something else; nothing was changed.
struct ForeignState: Error {
    /// A message that names both sides.
    var difference: String
}
