/// The kinds of requests that a ``FakeDatabase`` distinguishes.
public enum FakeOperation: String, Hashable, Sendable, CaseIterable {
    /// Any request.
    case any
    /// ``CloudDatabase/accountStatus()``.
    case accountStatus
    /// ``CloudDatabase/userRecordName()``.
    case userRecordName
    /// ``CloudDatabase/modifyRecords(saving:deleting:savePolicy:atomically:)``.
    case modifyRecords
    /// ``CloudDatabase/records(for:desiredKeys:)``.
    case records
    /// ``CloudDatabase/modifyRecordZones(saving:deleting:)``.
    case modifyRecordZones
    /// ``CloudDatabase/recordZones(for:)``.
    case recordZones
    /// ``CloudDatabase/databaseChanges(since:resultsLimit:)``.
    case databaseChanges
    /// ``CloudDatabase/recordZoneChanges(inZoneWith:since:desiredKeys:resultsLimit:)``.
    case recordZoneChanges
    /// ``CloudDatabase/modifySubscriptions(saving:deleting:)``.
    case modifySubscriptions
    /// ``CloudDatabase/allSubscriptions()``.
    case allSubscriptions

    /// Whether a fault for this kind applies to another kind.
    func matches(_ other: FakeOperation) -> Bool { self == .any || self == other }

    /// Whether the request is refused if no user is signed in.
    var needsAccount: Bool { self != .accountStatus }
}

/// When a fault applies, relative to the server's work.
public enum FakeStage: String, Hashable, Sendable, CaseIterable {
    /// Before the server performs the request.
    case beforeApplying
    /// After the server has performed the request, so that only the response is affected.
    case afterApplying
}
