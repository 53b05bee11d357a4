// Apple documents these declarations.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Foundation

/// Immutable.
open class CKAsset: NSObject, @unchecked Sendable {
    // Sendable is correct: there are only constants.
    public let fileURL: URL?

    public init(fileURL: URL) {
        StandIn.check(fileURL.isFileURL, "an asset is a file")
        self.fileURL = fileURL
    }
}
