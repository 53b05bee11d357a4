import RecordCoding

import struct Foundation.Date

/// An edit and the version that it must be reconciled with.
package struct ReconcileItem: Equatable, Sendable, RecordKeyed {
    package var key: RecordKey
    package var client: ContentHandle
    package var clientEdited: Date?
    /// The cloud's latest version; `nil` if the record was deleted.
    package var server: ContentHandle?
    package var ancestor: ContentHandle?
    /// Field values that replace those in `ancestor`.
    package var contested: ContentHandle?
    /// What is decided against before the cloud's version.
    package var side: EditBase.Side?
    /// The version that the edit was made on, if it was lost with its zone.
    package var lost: EditBase.Lost?
    /// The contents with which this device created the record, if the edit has no ancestor.
    package var creation: ContentHandle?
    /// Contents that this device sent and the server may have saved.
    package var sent: [SentVersion]

    package init(
        key: RecordKey,
        client: ContentHandle,
        clientEdited: Date?,
        server: ContentHandle?,
        ancestor: ContentHandle?,
        contested: ContentHandle? = nil,
        sent: [SentVersion]
    ) {
        self.key = key
        self.client = client
        self.clientEdited = clientEdited
        self.server = server
        self.ancestor = ancestor
        self.contested = contested
        self.sent = sent
    }
}

/// The resolution of a conflict between exactly these contents.
package struct Reconciled: Equatable, Sendable {
    package var item: ReconcileItem
    package var resolution: Resolution
    /// Whether the resolver was asked; it is not if the contents were equal or this device's own.
    package var wasAsked: Bool
    /// Whether this device sent the cloud's version.
    package var isOwnWrite: Bool

    package init(item: ReconcileItem, resolution: Resolution, wasAsked: Bool, isOwnWrite: Bool = false) {
        self.item = item
        self.resolution = resolution
        self.wasAsked = wasAsked
        self.isOwnWrite = isOwnWrite
    }
}
