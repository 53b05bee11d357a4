@testable import CodableSync

/// The kinds of faults of one story; each is drawn independently.
struct ChaosFaults {
    var network = false
    var holds = false
    var tokens = false
    var deletes = false
    var zoneReset = false
    var zoneDeleted = false
    /// The database has no feed, so the reason for a zone's loss is unknown.
    var hidesReasons = false
    var zonePurged = false
    var purgeAnswers: [PurgeAnswer] = [.uploadAgain]
    var crashes = false
    var streams = false
    var commands = false
    var discards = false
    var reachability = false
    var quota = false
    var throttling = false
    var accounts = false
    var parking = false
    /// Another user signs in, and later the first signs in again.
    var users = false
    /// A change of user removes confirmed records from the device.
    var removals = false

    init(_ random: inout SplitMix64) {
        draw(
            [
                \.network, \.holds, \.tokens, \.deletes, \.zoneReset, \.zoneDeleted, \.hidesReasons,
                \.zonePurged,
            ],
            &random
        )
        let answers: [[PurgeAnswer]] = [[.uploadAgain], [.removeLocal], [.uploadAgain, .removeLocal]]
        purgeAnswers = answers.randomElement(using: &random) ?? [.uploadAgain]
        draw(
            [
                \.crashes, \.streams, \.commands, \.discards, \.reachability, \.quota, \.throttling,
                \.accounts,
                \.parking, \.users,
            ],
            &random
        )
        guard users else { return }
        draw([\.removals], &random)
        // These faults may drop edits, and stories with several users do not track whose edit was dropped.
        purgeAnswers = [.uploadAgain]
        (zoneDeleted, discards, parking) = (false, false, false)
        // Records that no device keeps are lost with their zone.
        if removals { (zoneReset, zonePurged) = (false, false) }
        // After a crash in the middle of a removal, no event names the former user.
        if removals { crashes = false }
    }

    private mutating func draw(_ faults: [WritableKeyPath<Self, Bool>], _ random: inout SplitMix64) {
        for fault in faults { self[keyPath: fault] = Int.random(in: 0..<3, using: &random) == 0 }
    }

    /// The names of the enabled faults, for the log.
    var names: String {
        Mirror(reflecting: self).children.compactMap { child in
            if let isOn = child.value as? Bool { return isOn ? child.label : nil }
            return zonePurged ? "\(child.label ?? "") \(child.value)" : nil
        }.joined(separator: ", ")
    }
}
