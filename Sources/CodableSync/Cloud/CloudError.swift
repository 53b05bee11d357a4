public import RecordCoding

public import struct Foundation.URL

/// Why a request to a database, or one item of it, failed.
///
/// Match on ``code``. Show `localizedDescription` to the app's user, and log ``description``, which is for developers.
public struct CloudError: Error, Hashable, Sendable {
    /// The kind of failure.
    public var code: Code
    /// What happened, for developers, without the contents of any record.
    public var message: String
    /// How long the server wants the client to wait before it tries again; an engine waits at most an hour.
    public var retryAfter: Duration?
    /// The record on the server, if the error is a conflict that carries it.
    public var serverRecord: Record? {
        get { boxedRecord?.value }
        set { boxedRecord = newValue.map { .value($0) } }
    }
    /// The errors of individual items, if the error is a ``Code-swift.enum/partialFailure``.
    public var itemErrors: [RecordID: CloudError]
    /// Whether a zone was not found because the user reset the key of encrypted data.
    public var userDidResetEncryptedData: Bool
    /// Where the user signs in, if a web service requires it.
    public var redirectURL: URL?

    // The record would double the size of an error, and of each result that may be one.
    private var boxedRecord: Boxed<Record>?

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - message: What happened, for developers; the code's own sentence by default.
    ///   - retryAfter: How long the server wants the client to wait.
    ///   - serverRecord: The record on the server.
    ///   - itemErrors: The errors of individual items.
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
        self.itemErrors = itemErrors
        self.userDidResetEncryptedData = userDidResetEncryptedData
        self.redirectURL = redirectURL
        self.serverRecord = serverRecord
    }
}

extension CloudError: CustomStringConvertible {
    /// The code's name and the message, for developers, shortened if they are long, and without control characters.
    public var description: String { "\(code.name.abbreviated): \(message.abbreviated(to: 400))" }
}

extension CloudError: CustomReflectable {
    /// The properties; of ``redirectURL`` only the host, since the rest may let somebody sign in.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "code": code, "message": message, "retryAfter": retryAfter as Any,
                "serverRecord": serverRecord as Any, "itemErrors": itemErrors,
                "userDidResetEncryptedData": userDidResetEncryptedData,
                "redirectURL": redirectURL?.host() as Any,
            ],
            displayStyle: .struct
        )
    }
}
