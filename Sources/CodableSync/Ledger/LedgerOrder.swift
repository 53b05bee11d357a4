import RecordCoding

/// The order in which items of one request are processed.
enum LedgerOrder {
    /// Orders names so that each comes after its parent if that is among them; cycles are broken.
    static func parentsFirst(_ names: [String], parent: (String) -> String?) -> [String] {
        var missing = Set(names.map(ExactName.init))
        var order: [String] = []
        for name in names {
            // Walk up to a name that is already placed or not among these, then down again.
            var path: [String] = []
            var next: String? = name
            while let current = next, missing.remove(ExactName(current)) != nil {
                path.append(current)
                next = parent(current)
            }
            order += path.reversed()
        }
        return order
    }
}
