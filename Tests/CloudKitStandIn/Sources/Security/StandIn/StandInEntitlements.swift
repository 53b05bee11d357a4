// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// Core Foundation's types, which other Foundations have not.
public final class CFAllocator {}
public final class CFError {}
public typealias CFString = String
public typealias CFTypeRef = AnyObject

/// The entitlements of the process.
public enum StandInEntitlements {
    /// By default those of an app with a default container; `nil` if they can't be read.
    @TaskLocal public static var values: [String: any Sendable]? = [
        "com.apple.developer.icloud-services": ["CloudKit"],
        "com.apple.developer.icloud-container-identifiers": ["iCloud.stand-in"],
    ]
}
