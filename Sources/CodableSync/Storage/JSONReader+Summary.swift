import RecordCoding

/// Reading a snapshot's summary and its parts.
extension JSONReader {
    mutating func signOut() throws -> SignOut {
        let text = try string()
        guard let signOut = SignOut(rawValue: text) else { throw JournalLineError.unknownKind(text) }
        return signOut
    }

    mutating func untoldSwitch() throws -> UntoldSwitch {
        var untold = UntoldSwitch()
        try members { json, key in
            if key == "from" { untold.from = try json.string() } else { try json.skipValue() }
        }
        return untold
    }

    mutating func identity() throws -> StateIdentity {
        var identity = StateIdentity(cloud: "", scope: "", container: nil, zone: "", recordType: "")
        try members { json, key in try json.identityMember(key, of: &identity) }
        return identity
    }

    mutating func identityMember(_ key: String, of identity: inout StateIdentity) throws {
        switch key {
        case "cloud": identity.cloud = try string()
        case "scope": identity.scope = try string()
        case "container": identity.container = try string()
        case "zone": identity.zone = try string()
        case "recordType": identity.recordType = try string()
        default: try skipValue()
        }
    }

    /// Reads a type if all of its models are queued, or a type and the last name.
    mutating func initialModels() throws -> InitialModels {
        if try kind() == .string { return InitialModels(ExactName(try string())) }
        let names = try names()
        guard names.count == 2 else { throw JournalLineError.malformed("initial models have no last name") }
        return InitialModels(names[0], through: names[1])
    }

    /// Reads a zone's state; an unreadable token is left out, so that the zone is listed again.
    mutating func zoneState(_ problems: inout [String]) throws -> ZoneState {
        var zone = ZoneState()
        var name: String?
        var owner = ZoneID.currentUserOwnerName
        try members { json, key in
            switch key {
            case "name": name = try json.string()
            case "owner": owner = try json.string()
            case "stage": zone.stage = try json.zoneStage()
            case "token":
                zone.token = try json.unlessMalformed(key, &problems) { ChangeToken(try $0.base64()) }
            case "subscribed": zone.isSubscribed = try json.bool()
            case "positionLate": zone.isPositionLate = try json.bool()
            case "listing": zone.listing = try json.counter()
            case "isListing": zone.isListing = try json.bool()
            case "unfetched": zone.unfetched = try json.array { try $0.string() }
            default: try json.skipValue()
            }
        }
        zone.zoneID = name.map { ZoneID(zoneName: $0, ownerName: owner) }
        return zone
    }

    private mutating func zoneStage() throws -> ZoneStage {
        let text = try string()
        guard let stage = ZoneStage(rawValue: text) else { throw JournalLineError.unknownKind(text) }
        return stage
    }

    /// Reads a snapshot's summary; an unreadable token is left out, so that everything is fetched.
    mutating func summary(_ problems: inout [String]) throws -> StateSummary {
        var summary = StateSummary()
        try members { json, key in
            switch key {
            case "databaseToken":
                summary.databaseToken = try json.unlessMalformed(key, &problems) {
                    ChangeToken(try $0.base64())
                }
            case "serverWait": summary.serverWait = try json.date()
            case "lastFetch": summary.lastFetch = try json.date()
            case "lastNumber": summary.lastNumber = try json.counter()
            case "initialModels": summary.initialModels = try json.array { try $0.initialModels() }
            case "schemas": summary.schemas = try json.rows { try $0.readableSchema() }
            case "identity": summary.identity = try json.identity()
            case "user": summary.user = try json.string()
            case "switches": summary.switchCount = try json.counter()
            case "untoldSwitch": summary.untoldSwitch = try json.untoldSwitch()
            case "signOut": summary.signOut = try json.signOut()
            case "followed": summary.isFollowed = try json.bool()
            default: try json.skipValue()
            }
        }
        return summary
    }
}
