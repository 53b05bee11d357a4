public import struct Foundation.Date

/// A conflict: two edits of one record that were made independently.
public struct Conflict<Model: RecordCodable>: Sendable {
    /// The newest model on this device.
    public let client: Model
    /// The model in the cloud.
    ///
    /// For a draft that meets an unsent edit of this device, with other devices' changes in it, this is that edit.
    public let server: Model
    /// The last model that both sides had in common; `nil` if there is none or it is unknown.
    ///
    /// If the response to this device's own request was lost, fields that the server has from it count as
    /// common.
    public let ancestor: Model?
    /// When the user made the edit on this device, by this device's clock.
    public let clientEdited: Date
    /// When the edit in the cloud was made, by the clock of its device; never later than the save date.
    public let serverEdited: Date
    /// The fields of the client that are older than the server's version, although the client was edited later.
    package var olderFields: Set<String> = []

    /// Creates a conflict, in the engine or in an app's tests.
    ///
    /// - Parameters:
    ///   - client: The newest model on this device.
    ///   - server: The model in the cloud.
    ///   - ancestor: The last model that both sides had in common.
    ///   - clientEdited: When the user made the edit on this device.
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
