public import RecordCoding

public import struct Foundation.URL

/// Why a request to a database, or one item of it, failed.
///
/// Match on ``code``. Show `localizedDescription` to the app's user, and log ``description``, which is for developers.
public struct CloudError: Error, Hashable, Sendable {
    private var box: Boxed<Contents>

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
        box = .value(
            Contents(
                code: code,
                message: message ?? code.summary,
                retryAfter: retryAfter,
                serverRecord: serverRecord,
                itemErrors: itemErrors,
                userDidResetEncryptedData: userDidResetEncryptedData,
                redirectURL: redirectURL
            )
        )
    }
}

extension CloudError {
    /// The kind of failure.
    public var code: Code {
        get { box.value.code }
        set { box.value.code = newValue }
    }

    /// What happened, for developers, without the contents of any record.
    public var message: String {
        get { box.value.message }
        set { box.value.message = newValue }
    }

    /// How long the server wants the client to wait before it tries again; an engine waits at most an hour.
    public var retryAfter: Duration? {
        get { box.value.retryAfter }
        set { box.value.retryAfter = newValue }
    }

    /// The record on the server, if the error is a conflict that carries it.
    public var serverRecord: Record? {
        get { box.value.serverRecord }
        set { box.value.serverRecord = newValue }
    }

    /// The errors of individual items, if the error is a ``Code-swift.enum/partialFailure``.
    public var itemErrors: [RecordID: CloudError] {
        get { box.value.itemErrors }
        set { box.value.itemErrors = newValue }
    }

    /// Whether a zone was not found because the user reset the key of encrypted data.
    public var userDidResetEncryptedData: Bool {
        get { box.value.userDidResetEncryptedData }
        set { box.value.userDidResetEncryptedData = newValue }
    }

    /// Where the user signs in, if a web service requires it.
    public var redirectURL: URL? {
        get { box.value.redirectURL }
        set { box.value.redirectURL = newValue }
    }

    private struct Contents: Hashable, Sendable {
        var code: Code
        var message: String
        var retryAfter: Duration?
        var serverRecord: Record?
        var itemErrors: [RecordID: CloudError]
        var userDidResetEncryptedData: Bool
        var redirectURL: URL?
    }
}

extension CloudError: CustomStringConvertible {
    /// The code's name and the message, for developers, shortened if they are long, and without control characters.
    public var description: String { "\(code.name.abbreviated): \(message.abbreviated(to: 400))" }
}
