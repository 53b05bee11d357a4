// Apple documents these declarations.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Foundation

open class CKOperation: Operation, @unchecked Sendable {
    /// Sendable like Apple's class, although mutable: one task at a time uses an instance.
    open class Configuration: NSObject, @unchecked Sendable {
        open var qualityOfService = QualityOfService.default
        open var timeoutIntervalForResource: TimeInterval = -1
    }
}

open class CKOperationGroup: NSObject, @unchecked Sendable {
    // Sendable is correct: it has no state.
}

open class CKDatabaseOperation: CKOperation, @unchecked Sendable {}

open class CKModifyRecordsOperation: CKDatabaseOperation, @unchecked Sendable {
    public enum RecordSavePolicy: Int, Sendable {
        case ifServerRecordUnchanged = 0
        case changedKeys = 1
        case allKeys = 2
    }
}
