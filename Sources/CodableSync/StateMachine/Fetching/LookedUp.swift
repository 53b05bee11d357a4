import RecordCoding

/// The result of looking up one record: the version, `nil` if there is none, or an error.
package struct LookedUp: Equatable, Sendable {
    package var name: String
    package var result: Result<KnownVersion?, CloudError>

    package init(name: String, result: Result<KnownVersion?, CloudError>) {
        self.name = name
        self.result = result
    }
}
