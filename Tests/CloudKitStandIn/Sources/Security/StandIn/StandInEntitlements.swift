// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// Core Foundation's types, which other Foundations have not.
public final class CFAllocator {}
public final class CFError {}
public typealias CFString = String
public typealias CFTypeRef = AnyObject

/// The entitlements of the process.
public enum StandInEntitlements {
    @TaskLocal private static var current: [String: any Sendable]? = [
        "com.apple.developer.icloud-services": ["CloudKit"],
        "com.apple.developer.icloud-container-identifiers": ["iCloud.stand-in"],
        "com.apple.developer.icloud-container-environment": "Production",
    ]

    /// By default those of an app with a default container; `nil` if they can't be read.
    public static var values: [String: any Sendable]? { current }

    /// Gives the process other entitlements during an operation.
    public static func with<Result>(
        _ values: [String: any Sendable]?,
        isolation: isolated (any Actor)? = #isolation,
        _ operation: () async throws -> Result
    ) async rethrows -> Result {
        try await $current.withValue(values, operation: operation, isolation: isolation)
    }
}
