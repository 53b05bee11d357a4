/// The kinds of requests that a ``FakeDatabase`` distinguishes.
public enum FakeOperation: String, Hashable, Sendable, CaseIterable {
    /// Any request.
    case any
    /// Calls of ``CloudDatabase/accountStatus()``.
    case accountStatus
    /// Calls of ``CloudDatabase/userRecordName()``.
    case userRecordName
    /// Calls of ``CloudDatabase/modifyRecords(saving:deleting:savePolicy:atomically:)``.
    case modifyRecords
    /// Calls of ``CloudDatabase/records(for:desiredKeys:)``.
    case records
    /// Calls of ``CloudDatabase/modifyRecordZones(saving:deleting:)``.
    case modifyRecordZones
    /// Calls of ``CloudDatabase/recordZones(for:)``.
    case recordZones
    /// Calls of ``CloudDatabase/databaseChanges(since:resultsLimit:)``.
    case databaseChanges
    /// Calls of ``CloudDatabase/recordZoneChanges(inZoneWith:since:desiredKeys:resultsLimit:)``.
    case recordZoneChanges
    /// Calls of ``CloudDatabase/modifySubscriptions(saving:deleting:)``.
    case modifySubscriptions
    /// Calls of ``CloudDatabase/allSubscriptions()``.
    case allSubscriptions

    /// Whether a fault for this kind applies to another kind.
    func matches(_ other: FakeOperation) -> Bool { self == .any || self == other }

    /// Whether the request is refused if no user is signed in.
    var needsAccount: Bool { self != .accountStatus }
}
