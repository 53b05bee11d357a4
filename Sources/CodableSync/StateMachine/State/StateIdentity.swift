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

    /// The first difference between this identity and another, in words that name both values and what to do.
    ///
    /// - Parameter wanted: The identity that the engine is configured for.
    /// - Returns: The text; `nil` if there is no difference.
    package func difference(from wanted: StateIdentity) -> String? {
        // The name of the zone follows from the record type.
        let rows: [(what: String, own: String?, wanted: String?)] = [
            ("cloud", cloud, wanted.cloud), ("database", scope, wanted.scope),
            // An app may start to name the container that it has used by default so far.
            ("container", container ?? wanted.container, wanted.container ?? container),
            ("record type", recordType, wanted.recordType), ("zone", zone, wanted.zone),
        ]
        for row in rows {
            let (own, wanted) = (row.own ?? "", row.wanted ?? "")
            if ExactName(own) == ExactName(wanted) { continue }
            // Another directory would leave the edits of a renamed model behind.
            let remedy =
                row.what != "record type"
                ? "Give the engine another directory."
                : "If the model was renamed, add static var recordType: String { \(own.quoted) } to it, which keeps its "
                    + "records and edits. If it is another model, give its engine another directory."
            return
                "belongs to the \(row.what) \"\(own)\", and the engine is set up for \"\(wanted)\". \(remedy)"
        }
        return nil
    }
}

/// What happened to the records when the user signed out.
package enum SignOut: String, Equatable, Sendable {
    /// They stay on this device for their user.
    case kept
    /// Those that the cloud has confirmed were removed from this device.
    case removed
}
