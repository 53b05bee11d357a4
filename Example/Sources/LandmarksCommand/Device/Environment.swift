import Foundation

/// The environment variables.
struct Environment: Sendable {
    /// A variable's bytes, which may not be UTF-8; `nil` if it isn't set.
    var variable: @Sendable (String) -> [UInt8]?

    /// The environment of this process.
    static let current = Environment { name in
        getenv(name).map { value in
            UnsafeBufferPointer(start: value, count: strlen(value)).map(UInt8.init(bitPattern:))
        }
    }

    /// A variable's path; `nil` if it isn't set, or is empty.
    ///
    /// - Parameters:
    ///   - name: The variable's name.
    ///   - remedy: An alternative to setting it to an absolute path.
    /// - Returns: The path.
    /// - Throws: ``Failure``: usage, if it is not UTF-8, or relative.
    func path(_ name: String, or remedy: String) throws -> String? {
        guard let bytes = variable(name), !bytes.isEmpty else { return nil }
        let path = String(decoding: bytes, as: UTF8.self)
        let isText = path.utf8.elementsEqual(bytes)
        if isText, path.hasPrefix("/") { return path }
        throw Failure(
            .usage,
            "the environment variable \(name), '\(bytes.shown)', is \(isText ? "a relative path" : "not UTF-8"): "
                + "set it to an absolute path, or \(remedy)"
        )
    }
}
