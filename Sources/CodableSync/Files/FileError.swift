import Foundation

/// Why a file operation failed.
package struct FileError: Error, Hashable, Sendable {
    /// The operation that failed.
    package enum Operation: String, Hashable, Sendable, CaseIterable {
        case createDirectory = "make the directory"
        case list = "list the directory"
        case look = "look up"
        case open = "open"
        case create = "create"
        case append = "write to"
        case read = "read"
        case flush = "flush"
        case truncate = "cut off"
        case rename = "rename"
        case remove = "remove"
        case syncDirectory = "flush the directory"
        case lock = "lock"
    }

    /// The path of the file or directory.
    package var path: String
    /// The operation that failed.
    package var operation: Operation
    /// The system's error number.
    package var code: Int32
    /// What happened and what to do about it.
    package var message: String

    package init(_ operation: Operation, _ path: String, code: Int32) {
        self.init(operation, path, code: code, reason: String(cString: strerror(code)))
    }

    package init(_ operation: Operation, _ path: String, code: Int32, reason: String) {
        self.path = path
        self.operation = operation
        self.code = code
        let shown = path.shortenedForMessage
        message = "Cannot \(operation.rawValue) \"\(shown)\": \(reason). \(Self.remedy(for: code, operation))"
    }

    package init(tooLarge path: String, size: UInt64, limit: Int) {
        let reason = "It has \(size) bytes; the limit is \(limit)"
        self.init(.read, path, code: EFBIG, reason: reason)
    }

    /// Whether the disk or the user's quota is full.
    package var isOutOfSpace: Bool { code == ENOSPC || code == EDQUOT }

    /// Whether the path itself is the reason, so that trying again does not help.
    package var isOfThePath: Bool {
        [ENOTDIR, ENAMETOOLONG, EINVAL, ELOOP, EISDIR, EMLINK].contains(code)
    }

    private static func remedy(for code: Int32, _ operation: Operation) -> String {
        switch code {
        case ENOSPC, EDQUOT: "Free some space and try again."
        case EACCES, EPERM: "Give this user the right to read and write there, or use another directory."
        case EROFS: "Use a directory on a volume that can be written to."
        case ENOENT: "Check that the directory still exists."
        case ENOTDIR, ENAMETOOLONG, EINVAL: "Use another path."
        case ELOOP, EISDIR, EMLINK: "Move it away, or use another directory."
        case EMFILE, ENFILE: "Close files that are not needed and try again."
        case EBADF: "Open the file again."
        case EFBIG where operation == .append: "Raise the limit for the size of files and try again."
        case EFBIG: "Restore it from a backup."
        default: "Check the disk and try again."
        }
    }
}

extension FileError: CustomStringConvertible {
    package var description: String { message }
}

extension String {
    /// At most 80 characters of the text without control characters, so that a path cannot forge a line of a
    /// log.
    ///
    /// The end of the path is kept, since it is the most useful part.
    package var shortenedForMessage: String {
        let isLong = unicodeScalars.count > 400
        let scalars =
            isLong ? Array(unicodeScalars.prefix(100) + unicodeScalars.suffix(300)) : Array(unicodeScalars)
        let escaped = scalars.map { scalar in
            scalar.isPrintable ? String(scalar) : "\\u{\(String(scalar.value, radix: 16))}"
        }.joined()
        return escaped.count <= 80 ? escaped : String(escaped.prefix(20)) + "…" + String(escaped.suffix(59))
    }
}

extension Unicode.Scalar {
    /// Whether the character is neither a control character nor one that changes the writing direction.
    fileprivate var isPrintable: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse, .surrogate:
            false
        default: true
        }
    }
}
