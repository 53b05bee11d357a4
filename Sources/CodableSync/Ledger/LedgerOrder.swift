import RecordCoding

/// The order in which items of one request are looked at.
enum LedgerOrder {
    /// Names in an order in which each comes after its parent if that is among them; a circle is broken up.
    static func parentsFirst(_ names: [String], parent: (String) -> String?) -> [String] {
        var missing = Set(names.map(ExactName.init))
        var order: [String] = []
        for name in names {
            // Up to a name that is there already or that is none of these, then down again.
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
