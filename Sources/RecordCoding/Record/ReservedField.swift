/// The fields that the engine adds to the model's own.
package enum ReservedField {
    /// The prefix of reserved fields; a model's keys must not start with it.
    package static let prefix = "codableSync"
    /// The date of the user's edit.
    package static let edited = "codableSyncEdited"
    /// The schema version of the model, if it is above 1.
    package static let schema = "codableSyncSchema"

    /// Whether a field belongs to the engine and not to the model.
    ///
    /// - Parameter name: The field's name.
    /// - Returns: Whether the name begins with the reserved prefix.
    package static func isReserved(_ name: String) -> Bool {
        name.utf8.count >= prefix.utf8.count && name.hasPrefix(prefix)
    }
}
