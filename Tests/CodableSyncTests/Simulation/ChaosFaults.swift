@testable import CodableSync

/// The kinds of trouble of one story; each is drawn by itself, so that few of them meet often.
struct ChaosFaults {
    var network = false
    var holds = false
    var tokens = false
    var deletes = false
    var zoneReset = false
    var zoneDeleted = false
    /// The database's feed tells nothing, so a zone that is gone is gone for no known reason.
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
    /// Another user signs in, and the first comes back.
    var users = false
    /// What the cloud has confirmed leaves a device with its user.
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
        // Whose edit was given up would be another story.
        purgeAnswers = [.uploadAgain]
        (zoneDeleted, discards, parking) = (false, false, false)
        // What no device has any more goes with its zone.
        if removals { (zoneReset, zonePurged) = (false, false) }
        // Whom a crash in the middle of a removal leaves behind, no event tells.
        if removals { crashes = false }
    }

    private mutating func draw(_ faults: [WritableKeyPath<Self, Bool>], _ random: inout SplitMix64) {
        for fault in faults { self[keyPath: fault] = Int.random(in: 0..<3, using: &random) == 0 }
    }

    /// The names of what is switched on, for the log.
    var names: String {
        Mirror(reflecting: self).children.compactMap { child in
            if let isOn = child.value as? Bool { return isOn ? child.label : nil }
            return zonePurged ? "\(child.label ?? "") \(child.value)" : nil
        }.joined(separator: ", ")
    }
}
