import Foundation

/// The variables that whoever starts a command has set.
struct Environment: Sendable {
    /// A variable's bytes, which need not be text; `nil` where it is not set.
    var variable: @Sendable (String) -> [UInt8]?

    /// The process's own.
    static let current = Environment { name in
        getenv(name).map { value in
            UnsafeBufferPointer(start: value, count: strlen(value)).map(UInt8.init(bitPattern:))
        }
    }

    /// A variable's path; `nil` where it is not set, or empty, which means the same.
    ///
    /// - Parameters:
    ///   - name: The variable's name.
    ///   - remedy: What else the user may do than set it to an absolute path.
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
