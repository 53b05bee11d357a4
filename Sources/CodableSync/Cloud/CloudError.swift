public import RecordCoding

public import protocol Foundation.LocalizedError
public import struct Foundation.URL

/// Why a request to a database, or one item of it, failed.
///
/// ``code`` is for programs, ``message`` is for people.
public struct CloudError: Error, Hashable, Sendable {
    /// The kind of failure.
    public var code: Code
    /// What happened, without the contents of any record.
    public var message: String
    /// How long the server wants the client to wait before it tries again; an engine waits at most an hour.
    public var retryAfter: Duration?
    /// What only few errors carry.
    private var rest = Rest.nothing

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - message: What happened; the code's own sentence by default.
    ///   - retryAfter: How long the server wants the client to wait.
    ///   - serverRecord: The record on the server.
    ///   - itemErrors: The errors of items.
    ///   - userDidResetEncryptedData: Whether the user reset the key of encrypted data.
    ///   - redirectURL: Where the user signs in.
    public init(
        _ code: Code,
        message: String? = nil,
        retryAfter: Duration? = nil,
        serverRecord: Record? = nil,
        itemErrors: [RecordID: CloudError] = [:],
        userDidResetEncryptedData: Bool = false,
        redirectURL: URL? = nil
    ) {
        self.code = code
        self.message = message ?? code.summary
        self.retryAfter = retryAfter
        details = Details(
            serverRecord: serverRecord,
            itemErrors: itemErrors,
            userDidResetEncryptedData: userDidResetEncryptedData,
            redirectURL: redirectURL
        )
    }
}

extension CloudError {
    /// The record on the server, if the error is a conflict that carries it.
    public var serverRecord: Record? {
        get { details.serverRecord }
        set { details.serverRecord = newValue }
    }

    /// The errors of items, if the error is a ``Code-swift.enum/partialFailure``.
    public var itemErrors: [RecordID: CloudError] {
        get { details.itemErrors }
        set { details.itemErrors = newValue }
    }

    /// Whether a zone was not found because the user reset the key of encrypted data.
    public var userDidResetEncryptedData: Bool {
        get { details.userDidResetEncryptedData }
        set { details.userDidResetEncryptedData = newValue }
    }

    /// Where the user signs in, if a web service requires it.
    public var redirectURL: URL? {
        get { details.redirectURL }
        set { details.redirectURL = newValue }
    }

    private struct Details: Hashable, Sendable {
        var serverRecord: Record?
        var itemErrors: [RecordID: CloudError] = [:]
        var userDidResetEncryptedData = false
        var redirectURL: URL?
    }

    /// Details on the heap: results, events and machines hold errors, and stay small by that.
    private indirect enum Rest: Hashable, Sendable {
        case nothing
        case details(Details)
    }

    private var details: Details {
        get { if case .details(let details) = rest { details } else { Details() } }
        set { rest = newValue == Details() ? .nothing : .details(newValue) }
    }
}

extension CloudError: CustomStringConvertible, LocalizedError {
    /// The code's name and the message, shortened if they are long, and without control characters.
    public var description: String { "\(code.name.abbreviated): \(message.abbreviated(to: 400))" }

    /// The same text as the description.
    public var errorDescription: String? { description }
}
