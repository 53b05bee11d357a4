import RecordCoding

/// Reading a snapshot's summary and its parts.
extension JSONReader {
    mutating func signOut() throws -> SignOut {
        let text = try string()
        guard let signOut = SignOut(rawValue: text) else { throw JournalLineError.unknownKind(text) }
        return signOut
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

    mutating func orders() throws -> OrderRuns {
        OrderRuns(
            runs: try rows { json in
                let first = try json.element { try $0.uint() }
                let last = try json.element { try $0.uint() }
                guard first <= last else {
                    throw JournalLineError.malformed("a run of orders ends too early")
                }
                return first...last
            }
        )
    }

    /// Reads a snapshot's summary; an unreadable token is left out, so that everything is fetched.
    mutating func summary(_ problems: inout [String]) throws -> StateSummary {
        var summary = StateSummary()
        var together = OrderRuns()
        var alone: [UInt64] = []
        try members { json, key in
            switch key {
            case "zoneToken":
                summary.zoneToken = try json.unlessMalformed(key, &problems) { ChangeToken(try $0.base64()) }
            case "databaseToken":
                summary.databaseToken = try json.unlessMalformed(key, &problems) {
                    ChangeToken(try $0.base64())
                }
            case "zone": summary.zone = try json.zoneStage()
            case "subscribed": summary.isSubscribed = try json.bool()
            case "positionLate": summary.isPositionLate = try json.bool()
            case "listing": summary.listing = try json.counter()
            case "isListing": summary.isListing = try json.bool()
            case "serverWait": summary.serverWait = try json.date()
            case "lastFetch": summary.lastFetch = try json.date()
            case "deliveryOrder": summary.deliveryOrder = try json.counter()
            case "initialModels": summary.hasInitialModels = try json.bool()
            case "identity": summary.identity = try json.identity()
            case "user": summary.user = try json.string()
            case "signOut": summary.signOut = try json.signOut()
            case "holdsRemoved": summary.holdsRemoved = try json.bool()
            case "handedOut": together = try json.orders()
            case "handedOutAlone": alone = try json.array { try $0.uint() }
            default: try json.skipValue()
            }
        }
        summary.handedOut = HandedOut(together: together, alone: alone)
        return summary
    }
}
