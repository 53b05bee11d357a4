import RecordCoding

/// How far the models of one type that the app had before its first sync are queued.
///
/// They are queued in parts, in the order of their record names, so that the next call can continue behind the last
/// one.
package struct InitialModels: Equatable, Sendable {
    package var type: ExactName
    /// The last record name of the parts that are queued; `nil` if all models are.
    package var last: ExactName?

    package init(_ type: ExactName, through last: ExactName? = nil) {
        self.type = type
        self.last = last
    }
}

extension StateSummary {
    /// How far the models of a type are queued; `nil` if none are.
    package func initialModels(of type: ExactName) -> InitialModels? {
        initialModels.first { $0.type == type }
    }

    /// The changes that are left of a part, since another call may have queued some of them.
    ///
    /// - Parameters:
    ///   - changes: The changes of the part.
    ///   - end: The end of the part.
    /// - Returns: The changes; `nil` if the whole part is queued.
    func rest(of changes: [NewChange], upTo end: InitialModels) -> [NewChange]? {
        guard let queued = initialModels(of: end.type) else { return changes }
        guard let last = queued.last else { return nil }
        if let end = end.last, end <= last { return nil }
        return changes.filter { last < ExactName($0.name) }
    }

    mutating func take(_ models: InitialModels) {
        initialModels.removeAll { $0.type == models.type }
        initialModels.append(models)
    }
}
