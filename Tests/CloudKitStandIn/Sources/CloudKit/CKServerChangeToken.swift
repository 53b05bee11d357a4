// Apple documents these declarations.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Foundation

/// Opaque and immutable.
open class CKServerChangeToken: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    // Sendable is correct: there are only constants.
    let data: Data

    init(data: Data) {
        self.data = data
    }

    public static var supportsSecureCoding: Bool { true }

    public required init?(coder: NSCoder) {
        guard let data = coder.decodeObject(of: NSData.self, forKey: "ChangeTokenData") else { return nil }
        self.data = data as Data
    }

    open func encode(with coder: NSCoder) {
        coder.encode(data as NSData, forKey: "ChangeTokenData")
    }

    open func copy(with zone: NSZone? = nil) -> Any { self }
}
