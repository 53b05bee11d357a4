/// The fields that the engine writes beside the model's own.
package enum ReservedField {
    /// A model's key that begins with it is refused.
    package static let prefix = "codableSync"
    /// The date at which the user made the edit.
    package static let edited = "codableSyncEdited"
    /// The schema version of the model, where it is above 1.
    package static let schema = "codableSyncSchema"

    /// Whether a field belongs to the engine and not to the model.
    ///
    /// - Parameter name: The field's name.
    /// - Returns: Whether the name begins with the reserved prefix.
    package static func isReserved(_ name: String) -> Bool { name.hasPrefix(prefix) }
}
