import RecordCoding

/// A change to many records at once, stored as it is: their rows would take more room by orders of magnitude.
///
/// It takes its effect from the rows and the numbers before it alone.
package enum StateFact: Equatable, Sendable {
    /// The zone is lost, with the reason if it is known.
    case zoneLost(ZoneNumber, DatabaseChanges.Deletion.Reason?)
    /// The app decided what happens to its data after the user purged the cloud's, in all purged zones.
    case purgeResolved(uploadAgain: Bool)
    /// The user has signed out, and what the cloud has confirmed was removed from this device.
    case removed
    /// A full listing contained these records unchanged.
    case listed(ZoneNumber, [ExactName])
    /// This version of the app can read other schema versions than the one before.
    case readable(ReadableSchema)

    /// Whether it numbers changes.
    var numbersChanges: Bool {
        switch self {
        case .zoneLost, .purgeResolved, .removed, .readable: true
        case .listed: false
        }
    }

    /// Whether the cloud or the next opening would repeat it.
    var isRepeatable: Bool {
        switch self {
        case .listed, .readable: true
        case .zoneLost, .purgeResolved, .removed: false
        }
    }
}

extension SyncState {
    mutating func apply(fact: StateFact) {
        switch fact {
        case .zoneLost(let number, let reason): applyLost(number, reason)
        case .purgeResolved(let uploadAgain): applyPurgeResolved(uploadAgain: uploadAgain)
        case .removed: applySignedOut(removing: true)
        case .listed(let zone, let names): applyListed(zone, names)
        case .readable(let schema): applyReadable(schema)
        }
    }
}
