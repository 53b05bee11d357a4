@testable import CodableSync

/// A model for job stories, whose values are stamps that are each written once.
protocol StoryModel: RecordCodable, Equatable {
    /// Whether edits and drafts have their own fields.
    static var hasFields: Bool { get }
    /// Whether a draft adds its stamp to those before it; if not, it replaces this device's last one.
    static var keepsDrafts: Bool { get }

    init(name: String)
    /// All stamps that are still present.
    var stamps: [String] { get }
    /// The stamps that a device wrote with edits.
    subscript(edits device: Int) -> [String] { get set }
    /// The last draft of a device.
    subscript(draft device: Int) -> String { get set }
}

extension StampSet: StoryModel {
    static var hasFields: Bool { false }
    static var keepsDrafts: Bool { false }

    subscript(edits device: Int) -> [String] {
        get { stamps }
        set { stamps = newValue }
    }

    subscript(draft device: Int) -> String {
        get { "" }
        set {}
    }
}

/// A model with separate fields for each device, for edits and for drafts, merged field by field: reverting a
/// field loses a stamp.
struct StampFields: RecordCodable, Equatable {
    static var recordType: String { "Item" }

    var id: String
    var edits0: [String] = []
    var edits1: [String] = []
    var edits2: [String] = []
    var draft0 = ""
    var draft1 = ""
    var draft2 = ""

    var recordName: String { id }

    /// Names of records that had a conflict without a common ancestor.
    static let createdTwice = Locked<Set<String>>([])

    static func resolveConflict(_ conflict: Conflict<StampFields>) throws -> StampFields? {
        guard conflict.ancestor == nil else { return try conflict.merged() }
        // The record was created twice or an answer was lost, so this merge may restore removed stamps.
        createdTwice.withLock { _ = $0.insert(conflict.client.id) }
        var model = conflict.server
        for device in 0..<3 {
            let edits = conflict.client[edits: device]
            model[edits: device] += edits.filter { !model[edits: device].contains($0) }
            if model[draft: device].isEmpty { model[draft: device] = conflict.client[draft: device] }
        }
        return model
    }
}

extension StampFields: StoryModel {
    static var hasFields: Bool { true }
    static var keepsDrafts: Bool { false }

    init(name: String) { id = name }

    var stamps: [String] {
        (0..<3).flatMap { self[edits: $0] + [self[draft: $0]] }.filter { !$0.isEmpty }
    }

    private static var edits: [WritableKeyPath<StampFields, [String]>] { [\.edits0, \.edits1, \.edits2] }
    private static var drafts: [WritableKeyPath<StampFields, String>] { [\.draft0, \.draft1, \.draft2] }

    subscript(edits device: Int) -> [String] {
        get { self[keyPath: Self.edits[device]] }
        set { self[keyPath: Self.edits[device]] = newValue }
    }

    subscript(draft device: Int) -> String {
        get { self[keyPath: Self.drafts[device]] }
        set { self[keyPath: Self.drafts[device]] = newValue }
    }
}

/// A model with lists that all devices change, merged by element against the ancestor: without the right ancestor,
/// a stamp is lost, or one that was removed comes back.
struct StampLists: RecordCodable, Equatable {
    static var recordType: String { "Item" }

    var id: String
    var edited: [String] = []
    var drafted: [String] = []

    var recordName: String { id }

    static func resolveConflict(_ conflict: Conflict<StampLists>) throws -> StampLists? {
        let (mine, theirs) = (conflict.client, conflict.server)
        // As in ``StampFields``: without an ancestor, a removed stamp may come back.
        if conflict.ancestor == nil { StampFields.createdTwice.withLock { _ = $0.insert(mine.id) } }
        var model = theirs
        for list in [\StampLists.edited, \.drafted] {
            let before = Set(conflict.ancestor?[keyPath: list] ?? [])
            let removed = before.subtracting(mine[keyPath: list])
            let added = mine[keyPath: list].filter {
                !before.contains($0) && !theirs[keyPath: list].contains($0)
            }
            model[keyPath: list] = theirs[keyPath: list].filter { !removed.contains($0) } + added
        }
        return model
    }
}

extension StampLists: StoryModel {
    static var hasFields: Bool { true }
    static var keepsDrafts: Bool { true }

    init(name: String) { id = name }

    var stamps: [String] { edited + drafted }

    subscript(edits device: Int) -> [String] {
        get { edited }
        set { edited = newValue }
    }

    subscript(draft device: Int) -> String {
        get { drafted.last ?? "" }
        set { if !newValue.isEmpty, !drafted.contains(newValue) { drafted.append(newValue) } }
    }
}
