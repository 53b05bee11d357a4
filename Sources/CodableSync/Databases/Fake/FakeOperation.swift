/// The kinds of request that a ``FakeDatabase`` tells apart.
public enum FakeOperation: String, Hashable, Sendable, CaseIterable {
    /// Any of them.
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

    /// Whether a fault for this kind is one for another.
    func matches(_ other: FakeOperation) -> Bool { self == .any || self == other }

    /// Whether it is refused where nobody is signed in.
    var needsAccount: Bool { self != .accountStatus }
}

/// On which side of the server's work a fault strikes.
public enum FakeStage: String, Hashable, Sendable, CaseIterable {
    /// Before it is done: the server does not know of the request.
    case beforeApplying
    /// After it is done: only the answer is concerned.
    case afterApplying
}
