public import RecordCoding

public import protocol Foundation.LocalizedError
public import struct Foundation.URL

/// Why a request to a database, or one item of it, failed.
///
/// ``code`` is for the program, ``message`` for people, and ``recovery`` says what a sync engine does.
public struct CloudError: Error, Hashable, Sendable {
    /// What kind of failure it is.
    public var code: Code
    /// What happened, in words, without the contents of any record.
    public var message: String
    /// How long the server wants the client to wait before it tries again; an engine waits an hour at most.
    public var retryAfter: Duration?
    /// The record on the server, where a conflict carries it.
    public var serverRecord: Record?
    /// What became of each item, where the failure is a ``Code-swift.enum/partialFailure``.
    public var itemErrors: [RecordID: CloudError]
    /// Whether the user reset the key of encrypted data, where a zone was not found.
    public var userDidResetEncryptedData: Bool
    /// Where the user signs in, where a web service asks for it.
    public var redirectURL: URL?

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - code: What kind of failure it is.
    ///   - message: What happened, in words; the code's own sentence if left out.
    ///   - retryAfter: How long the server wants the client to wait.
    ///   - serverRecord: The record on the server.
    ///   - itemErrors: What became of each item.
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
        self.serverRecord = serverRecord
        self.itemErrors = itemErrors
        self.userDidResetEncryptedData = userDidResetEncryptedData
        self.redirectURL = redirectURL
    }
}

extension CloudError: CustomStringConvertible, LocalizedError {
    /// The code's name and the message, shortened where they are a server's and long, without control characters.
    public var description: String { "\(code.name.abbreviated): \(message.abbreviated(to: 400))" }

    /// The same words, for an alert or a log that asks for them.
    public var errorDescription: String? { description }
}
