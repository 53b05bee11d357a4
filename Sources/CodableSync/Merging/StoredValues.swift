import RecordCoding

// A model does not know all of a stored value: a newer version of the app may have added a member to a nested
// value, or a case that the model decodes as another one. Encoding the model would erase that. So an edit has
// the stored values of the fields that it does not change.

extension [String: RecordValue] {
    /// The stored values of those of these fields that a model has as its record shows them.
    ///
    /// - Parameters:
    ///   - stored: The fields of a record.
    ///   - shown: The fields of the record as the model encodes them.
    /// - Returns: The values to store in place of the model's.
    func unchanged(
        from stored: [String: RecordValue],
        shownAs shown: [String: RecordValue]
    ) -> [String: RecordValue] {
        stored.filter { name, _ in
            self[name] != nil && !ReservedField.isReserved(name) && isSame(name, in: shown)
        }
    }
}
