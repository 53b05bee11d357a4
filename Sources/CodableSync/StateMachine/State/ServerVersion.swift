/// What the cloud has of a record, as far as this device knows.
package enum ServerVersion: Equatable, Sendable {
    /// Nothing, or it is not known what.
    case none
    /// This version, the latest one that this device has met.
    case known(KnownVersion)
    /// Nothing in the current zone: the version was lost with the former one, or by a late deletion, and is
    /// uploaded again before any edit, unless the server has refused it.
    case lost(KnownVersion, isRefused: Bool = false)
    /// Nothing: another device has deleted the record, and not all streams have told the app.
    ///
    /// An upload is based on the version that was deleted, if it can be an ancestor.
    case deleted(ContentHandle?)

    /// The version that the cloud has or had.
    package var version: KnownVersion? {
        switch self {
        case .none, .deleted: nil
        case .known(let version), .lost(let version, _): version
        }
    }

    /// Changes what is noted about the version.
    mutating func changeVersion(_ body: (inout KnownVersion) -> Void) {
        switch self {
        case .none, .deleted: break
        case .known(var version):
            body(&version)
            self = .known(version)
        case .lost(var version, let isRefused):
            body(&version)
            self = .lost(version, isRefused: isRefused)
        }
    }

    /// Forgets a version of the current zone.
    mutating func forgetKnown() {
        if case .known = self { self = .none }
    }

    /// Forgets a version that was lost with its zone.
    mutating func forgetLost() {
        if case .lost = self { self = .none }
    }

    /// Whether another device has deleted the record, and not all streams have told the app.
    var isDeletion: Bool { if case .deleted = self { true } else { false } }

    /// The version that was deleted.
    var deleted: ContentHandle? { if case .deleted(let version) = self { version } else { nil } }

    /// Forgets a deletion, because the app knows of it.
    mutating func endDeletion() {
        if isDeletion { self = .none }
    }

    /// Lets the lost version be uploaded again although the server has refused it.
    mutating func retryLost() {
        if case .lost(let version, _) = self { self = .lost(version) }
    }
}
