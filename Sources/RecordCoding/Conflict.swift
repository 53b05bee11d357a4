public import struct Foundation.Date

/// Two edits of one record that do not know of each other.
public struct Conflict<Model: RecordCodable>: Sendable {
    /// The newest model of this device.
    public let client: Model
    /// The model in the cloud.
    public let server: Model
    /// The last model that both sides had in common; `nil` if there is none, or it is not known.
    ///
    /// Where the answer to an own request was lost, fields that the server has from it count as in common.
    public let ancestor: Model?
    /// When the user of this device made the edit, by this device's clock.
    public let clientEdited: Date
    /// When the edit in the cloud was made, by the clock of its device; never later than its save date.
    public let serverEdited: Date

    /// Makes a conflict; the engine does, and so may the tests of an app.
    ///
    /// - Parameters:
    ///   - client: The newest model of this device.
    ///   - server: The model in the cloud.
    ///   - ancestor: The last model that both sides had in common.
    ///   - clientEdited: When the user of this device made the edit.
    ///   - serverEdited: When the edit in the cloud was made.
    public init(
        client: Model,
        server: Model,
        ancestor: Model? = nil,
        clientEdited: Date,
        serverEdited: Date
    ) {
        self.client = client
        self.server = server
        self.ancestor = ancestor
        self.clientEdited = clientEdited
        self.serverEdited = serverEdited
    }
}
