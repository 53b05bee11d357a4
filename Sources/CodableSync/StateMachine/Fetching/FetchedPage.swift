import RecordCoding

import struct Foundation.Date

/// One page of the zone's feed, with its contents staged.
package struct FetchedPage: Equatable, Sendable {
    package var records: [FetchedRecord] = []
    package var deletions: [RecordKey] = []
    /// Records that could not be read in this page and must be looked up.
    package var failed: [RecordKey] = []
    /// The number of records of other types or without a usable name.
    package var ignored = 0
    /// The longest wait that the server orders with a record that could not be read.
    package var retryAfter: Duration?
    package var token: ChangeToken
    package var moreComing: Bool

    package init(token: ChangeToken, moreComing: Bool) {
        self.token = token
        self.moreComing = moreComing
    }

    /// Notes a wait that the server orders with a record.
    mutating func extendWait(to ordered: Duration?) {
        if let ordered { retryAfter = max(ordered, retryAfter ?? ordered) }
    }
}

package struct FetchedRecord: Equatable, Sendable, RecordKeyed {
    package var key: RecordKey
    package var recordType: ExactName
    package var version: KnownVersion
    /// The date of the edit that the record carries.
    package var edited: Date?

    package init(key: RecordKey, recordType: ExactName, version: KnownVersion, edited: Date? = nil) {
        self.key = key
        self.recordType = recordType
        self.version = version
        self.edited = edited
    }
}
