import RecordCoding

/// The result of looking up one record: the version, `nil` if there is none, or an error.
package struct LookedUp: Equatable, Sendable, RecordKeyed {
    package var key: RecordKey
    package var result: Result<FetchedRecord?, CloudError>

    package init(key: RecordKey, result: Result<FetchedRecord?, CloudError>) {
        self.key = key
        self.result = result
    }
}
