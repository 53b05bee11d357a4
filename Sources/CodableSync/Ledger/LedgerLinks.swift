import RecordCoding

/// Who points at whom in a zone, as far as the rules of deletion need it.
struct LedgerLinks: Sendable {
    /// For each record, those that go with it when it is deleted; CloudKit bounds their number.
    var holders: [String: Set<String>] = [:]
    /// For each record, how many records name it as their parent.
    var childCounts: [String: Int] = [:]

    mutating func add(_ record: Record) {
        for target in record.deleteSelfTargets {
            holders[target, default: []].insert(record.recordID.recordName)
        }
        if let parent = record.parent { childCounts[parent.recordName, default: 0] += 1 }
    }

    mutating func remove(_ record: Record) {
        for target in record.deleteSelfTargets {
            holders[target]?.remove(record.recordID.recordName)
            if holders[target]?.isEmpty == true { holders[target] = nil }
        }
        if let parent = record.parent {
            childCounts[parent.recordName, default: 0] -= 1
            if childCounts[parent.recordName, default: 0] <= 0 { childCounts[parent.recordName] = nil }
        }
    }
}

extension Record {
    /// Every reference in the fields, by the name of the field.
    var references: [(field: String, reference: RecordReference)] {
        fields.flatMap { field, value in
            switch value {
            case .reference(let reference): [(field, reference)]
            case .list(let values):
                values.compactMap { element -> (String, RecordReference)? in
                    guard case .reference(let reference) = element else { return nil }
                    return (field, reference)
                }
            case .string, .int64, .double, .date, .bytes, .location, .asset, .null: []
            }
        }
    }

    /// The names of the records with which this one is deleted.
    var deleteSelfTargets: Set<String> {
        var targets: Set<String> = []
        for (_, reference) in references where reference.action == .deleteSelf {
            targets.insert(reference.recordName)
        }
        return targets
    }
}
