/// A kind of work: it has at most one request at a time, and a wait of its own after failures.
enum Subject: Int, CaseIterable, Sendable {
    case account, zone, subscription, fetching, lookingUp, sending, resolving, delivering
}

extension CloudRequest {
    var subject: Subject {
        switch self {
        case .checkAccount: .account
        case .saveZone, .readDatabaseChanges: .zone
        case .subscribe, .unsubscribe: .subscription
        case .fetch: .fetching
        case .lookUp: .lookingUp
        case .send: .sending
        }
    }
}
