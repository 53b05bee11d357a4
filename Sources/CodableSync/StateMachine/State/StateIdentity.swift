import RecordCoding

/// What a state belongs to, apart from its user; it is never opened for anything else.
///
/// It does not contain names of Swift types or directories, so both may change.
package struct StateIdentity: Equatable, Sendable {
    /// The cloud, as the database names it.
    package var cloud: String
    package var scope: String
    /// The container, if the app names one.
    package var container: String?
    package var zone: String
    package var recordType: String

    package init(cloud: String, scope: String, container: String?, zone: String, recordType: String) {
        self.cloud = cloud
        self.scope = scope
        self.container = container
        self.zone = zone
        self.recordType = recordType
    }

    /// The engine's zone, which its user owns.
    package var zoneID: ZoneID { ZoneID(zoneName: zone) }

    /// A part in which two identities differ.
    package struct Difference: Equatable, Sendable {
        var what: String
        var own: String
        var wanted: String

        /// A message that names both values and what to do.
        package var inWords: String {
            "belongs to the \(what) \"\(own)\", and the engine is set up for \"\(wanted)\". \(remedy)"
        }

        /// What to do; another directory would leave the edits of a renamed model behind.
        private var remedy: String {
            if what != Self.recordType { return "Give the engine another directory." }
            let property = "static var recordType: String { \(own.quoted) }"
            return "If the model was renamed, add \(property) to it, which keeps its records and edits. "
                + "If it is another model, give its engine another directory."
        }

        /// The words for the record type, from which the name of the zone follows.
        static let recordType = "record type"

        /// The reason for setting a file aside.
        package var reason: String { "it belongs to the \(what) \(own.quoted), not to \(wanted.quoted)" }
    }

    /// The first difference between this identity and another.
    ///
    /// - Parameter wanted: The identity that the engine is configured for.
    /// - Returns: The first difference; `nil` if there is none.
    package func firstDifference(from wanted: StateIdentity) -> Difference? {
        let rows: [(what: String, own: String?, wanted: String?)] = [
            ("cloud", cloud, wanted.cloud), ("database", scope, wanted.scope),
            // An app may start to name the container that it has used by default so far.
            ("container", container ?? wanted.container, wanted.container ?? container),
            (Difference.recordType, recordType, wanted.recordType), ("zone", zone, wanted.zone),
        ]
        guard let row = rows.first(where: { ExactName($0.own ?? "") != ExactName($0.wanted ?? "") }) else {
            return nil
        }
        return Difference(what: row.what, own: row.own ?? "", wanted: row.wanted ?? "")
    }
}

/// What happened to the records when the user signed out.
package enum SignOut: String, Equatable, Sendable {
    /// They stay on this device for their user.
    case kept
    /// Those that the cloud has confirmed were removed from this device.
    case removed
}
