import RecordCoding

/// The version of a model's schema, which shows an app that a newer version of it wrote a record.
package struct SchemaVersion: Hashable, Comparable, Sendable {
    package let number: UInt32

    /// The version of a model that states none.
    package static let first = SchemaVersion(1)

    package init(_ number: some BinaryInteger) {
        self.number = max(1, UInt32(clamping: number))
    }

    package static func < (lhs: SchemaVersion, rhs: SchemaVersion) -> Bool { lhs.number < rhs.number }
}

/// The highest schema version of a record type that this app can read, and whether the type's models carry
/// system fields.
package struct ReadableSchema: Hashable, Sendable {
    package var type: ExactName
    package var version: SchemaVersion
    package var carriesTag: Bool

    package init(type: ExactName, version: SchemaVersion, carriesTag: Bool = false) {
        self.type = type
        self.version = version
        self.carriesTag = carriesTag
    }

    /// Whether it says nothing about the type.
    var isDefault: Bool { version == .first && !carriesTag }
}

/// A description of a record's schema version that is too new for this app.
package struct NewerSchema: Equatable, Sendable, CustomStringConvertible {
    package var found: SchemaVersion
    package var known: SchemaVersion

    package init(found: SchemaVersion, known: SchemaVersion) {
        self.found = found
        self.known = known
    }

    package var description: String {
        "The record was written with schema version \(found.number), this app knows \(known.number); "
            + "update the app."
    }

    /// Why a change is not sent.
    package func reasonToPark(isDeletion: Bool) -> ParkReason {
        let (outcome, what) = isDeletion ? ("deleted", "deletion") : ("overwritten", "edit")
        return ParkReason(
            kind: .serverValueUndecodable,
            message:
                "The record is not \(outcome): it was written with schema version \(found.number), this app "
                + "knows \(known.number). Update the app, which then tries the \(what) again, or discard it."
        )
    }
}
