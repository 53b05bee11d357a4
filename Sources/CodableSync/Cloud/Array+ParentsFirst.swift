import RecordCoding

extension Array {
    /// The items of a request in an order in which each comes after its parent if that is among them; cycles are
    /// broken.
    ///
    /// - Parameters:
    ///   - name: The name of an item's record.
    ///   - parent: The name of its parent.
    /// - Returns: The items.
    func parentsFirst(name: (Element) -> String, parent: (Element) -> String?) -> [Element] {
        var missing = Dictionary(map { (ExactName(name($0)), $0) }) { $1 }
        var order: [Element] = []
        for item in self {
            // Walk up to an item that is already placed or not among these, then down again.
            var path: [Element] = []
            var next: String? = name(item)
            while let current = next, let item = missing.removeValue(forKey: ExactName(current)) {
                path.append(item)
                next = parent(item)
            }
            order += path.reversed()
        }
        return order
    }
}
