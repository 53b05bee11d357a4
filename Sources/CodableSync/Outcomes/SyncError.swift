public import struct Foundation.Date

/// Why a call to an engine failed.
///
/// Match on ``code``. Show `localizedDescription` to the app's user, and log ``description``, which is for developers:
/// it names records and says what the app can do.
///
/// ```swift
/// do {
///     try await engine.edit(named: id) { $0.title = title }
/// } catch let error as SyncError where error.code == .recordNotFound {
///     dismiss()
/// }
/// ```
public struct SyncError: Error, Hashable, Sendable {
    private var box: Boxed<Contents>

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - message: What happened and what to do, for developers; derived from the other values by default.
    ///   - recordNames: The records that the failure concerns.
    ///   - retryDate: When to try again.
    ///   - cloudError: The database's error.
    public init(
        _ code: Code,
        message: String? = nil,
        recordNames: [String] = [],
        retryDate: Date? = nil,
        cloudError: CloudError? = nil
    ) {
        box = .value(
            Contents(
                code: code,
                message: message ?? "",
                recordNames: recordNames,
                retryDate: retryDate,
                cloudError: cloudError
            )
        )
        if message == nil { self.message = summary }
    }
}

extension SyncError {
    /// The kind of failure.
    public var code: Code {
        get { box.value.code }
        set { box.value.code = newValue }
    }

    /// What happened and what to do, for developers, without the contents of any record.
    public var message: String {
        get { box.value.message }
        set { box.value.message = newValue }
    }

    /// The records that the failure concerns; empty if it concerns none in particular.
    ///
    /// Only the message describes a model that has no record name.
    public var recordNames: [String] {
        get { box.value.recordNames }
        set { box.value.recordNames = newValue }
    }

    /// When to try again, if the server asked for a delay, in response to this call or an earlier request.
    public var retryDate: Date? {
        get { box.value.retryDate }
        set { box.value.retryDate = newValue }
    }

    /// The database's error, if the code is ``Code-swift.enum/cloud``, or ``Code-swift.enum/configuration``
    /// if the app may not use its container.
    public var cloudError: CloudError? {
        get { box.value.cloudError }
        set { box.value.cloudError = newValue }
    }

    private struct Contents: Hashable, Sendable {
        var code: Code
        var message: String
        var recordNames: [String]
        var retryDate: Date?
        var cloudError: CloudError?
    }
}

extension SyncError: CustomStringConvertible {
    /// The message, for developers.
    public var description: String { message }
}

extension SyncError {
    /// The kinds of failure.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Code: Hashable, Sendable {
        /// Some of the models are invalid; the message says why for each. Nothing was queued.
        case invalidModels
        /// This device has no record with this name; nothing was queued.
        case recordNotFound
        /// This version of the app cannot read the record's latest version, and must not change it; nothing
        /// was queued.
        case recordUndecodable
        /// The disk is full; the call queued nothing, and the engine undid whatever it couldn't store.
        case storageFull
        /// Another engine is using the state directory; the message names its process.
        case stateInUse
        /// The state was written by a newer version of the library; nothing was changed.
        case stateTooNew
        /// The state cannot be read or written; the message names the place and the reason.
        case storageFailed
        /// The configuration is invalid; the message names the setting.
        ///
        /// If the app may not use its container, ``SyncError/cloudError`` is `badContainer` or
        /// `missingEntitlement`.
        case configuration
        /// The server asked to wait until ``SyncError/retryDate``.
        case waiting
        /// The user removed the app's data from the cloud; call ``SyncEngine/resolvePurge(_:)`` first.
        case waitingForDecision
        /// The cloud is unavailable; ``SyncError/cloudError`` says why. Queued changes are kept.
        case cloud
        /// The engine is stopped; call ``SyncEngine/start()`` first.
        case stopped
        /// The engine is closed.
        case closed
        /// Another user has signed in: the call was about the former user's models. Nothing was queued.
        case userChanged
    }
}
