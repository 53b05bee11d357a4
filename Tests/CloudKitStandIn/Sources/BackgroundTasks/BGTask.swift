// Apple documents these declarations.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

@_exported public import Foundation

open class BGTask: NSObject {
    public let identifier: String
    open var expirationHandler: (() -> Void)?
    let completed: (Bool) -> Void

    init(identifier: String, completed: @escaping (Bool) -> Void) {
        self.identifier = identifier
        self.completed = completed
    }

    open func setTaskCompleted(success: Bool) { completed(success) }
}

open class BGProcessingTask: BGTask {}

open class BGTaskRequest: NSObject {
    public let identifier: String
    open var earliestBeginDate: Date?

    init(of identifier: String) { self.identifier = identifier }
}

open class BGProcessingTaskRequest: BGTaskRequest {
    open var requiresNetworkConnectivity = false

    public init(identifier: String) { super.init(of: identifier) }
}
