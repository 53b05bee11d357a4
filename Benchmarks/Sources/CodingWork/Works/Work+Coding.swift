extension Work {
    /// All works of coding that need nothing beside this package and Foundation.
    ///
    /// - Returns: The works; those that are compared stand next to each other.
    /// - Throws: If a sample cannot be coded.
    package static func coding() throws -> [Work] {
        try models("reminder", Reminder.sample())
            + models("landmark", FlatLandmark.sample())
            + names("named-landmark", NamedLandmark.sample())
            + models("document", Document.sample(), isLong: true)
            + systemFields()
            + sizeChecks()
            + merges()
            + fieldKinds()
    }
}
