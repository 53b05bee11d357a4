import RecordCoding

/// The references between a zone's records, as far as the rules for deletions need them.
struct LedgerLinks: Sendable {
    /// For each record, the records that are deleted with it; CloudKit limits their number.
    var holders: [ExactName: Set<ExactName>] = [:]
    /// For each record, the number of records whose parent it is.
    var childCounts: [ExactName: Int] = [:]

    mutating func add(_ record: Record) {
        for target in record.deleteSelfTargets {
            holders[target, default: []].insert(ExactName(record.recordID.recordName))
        }
        if let parent = record.parent { childCounts[named: parent.recordName, default: 0] += 1 }
    }

    mutating func remove(_ record: Record) {
        subtract(record)
        for target in record.deleteSelfTargets where holders[target]?.isEmpty == true {
            holders[target] = nil
        }
        if let parent = record.parent?.recordName, childCounts[named: parent, default: 0] <= 0 {
            childCounts[named: parent] = nil
        }
    }

    /// Takes a record's references out, and keeps entries that are empty then.
    mutating func subtract(_ record: Record) {
        for target in record.deleteSelfTargets {
            holders[target]?.remove(ExactName(record.recordID.recordName))
        }
        if let parent = record.parent { childCounts[named: parent.recordName, default: 0] -= 1 }
    }
}

extension Record {
    /// All references in the fields, with the names of the fields.
    var references: [(field: String, reference: RecordReference)] {
        var references: [(field: String, reference: RecordReference)] = []
        for (field, value) in fields {
            switch value {
            case .reference(let reference): references.append((field, reference))
            case .list(let values):
                for case .reference(let reference) in values { references.append((field, reference)) }
            case .string, .int64, .double, .date, .bytes, .location, .asset, .null: break
            }
        }
        return references
    }

    /// The names of the records with which this one is deleted.
    var deleteSelfTargets: Set<ExactName> {
        var targets: Set<ExactName> = []
        for (_, reference) in references where reference.action == .deleteSelf {
            targets.insert(ExactName(reference.recordName))
        }
        return targets
    }
}
