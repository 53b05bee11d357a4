import struct Foundation.Data

/// The JSON of nested values, in one buffer in the order of the calls.
///
/// A model may fill containers in any order, and the members of an object are sorted. So a *node*, a value or a
/// container, knows where in the buffer its members are. Most models encode one member after another, in the
/// order of the keys: such a node is *plain*, since the buffer already has its text. The text of other nodes is
/// assembled when the value has encoded itself.
struct JSONBuffer {
    struct Node {
        enum Shape { case undecided, array, object, single }

        /// Tells apart the nodes that use an index one after another.
        let number: Int
        let place: CodingPlace
        let depth: Int
        let parent: Int?
        fileprivate(set) var shape = Shape.undecided
        fileprivate(set) var count = 0
        /// The place as a path, once it was needed.
        fileprivate var path: [any CodingKey]?
        /// Whether the text between `start` and `end` is complete but for the closing bracket.
        fileprivate var isPlain = true
        fileprivate let start: Int
        fileprivate var end: Int
        fileprivate var lastMember: Int?
        /// The child that is the last member, until its closing bracket is written.
        fileprivate var openChild: Int?
    }

    /// A member of an object, an element of an array, or elements that follow each other.
    private struct Member {
        let key: String
        var text: Range<Int>
        /// The node that is the value; `nil` if the text is complete.
        let child: Int?
        let previous: Int?
    }

    var writer = JSONWriter(escapesSlashes: true)
    private(set) var nodes: [Node] = []
    private var members: [Member] = []
    private var lastNumber = 0
    /// The first node of the value that encodes itself at present.
    private var firstNode = 0
    /// How often nodes of other values were changed: after that, nothing can be removed.
    private var strayChanges = 0

    /// Where the next text begins.
    var end: Int { writer.bytes.count }

    /// Removes everything, and returns whether little memory is kept.
    mutating func clear() -> Bool {
        if end > 0 { writer.bytes.removeAll(keepingCapacity: true) }
        if !nodes.isEmpty { nodes.removeAll(keepingCapacity: true) }
        if !members.isEmpty { members.removeAll(keepingCapacity: true) }
        firstNode = 0
        return writer.bytes.capacity + 100 * (nodes.capacity + members.capacity) < 65536
    }

    // MARK: - Values

    /// The state before a value that encodes itself.
    struct Mark {
        fileprivate let start: Int
        fileprivate let firstNode: Int
        fileprivate let firstMember: Int
        fileprivate let strayChanges: Int
    }

    /// Begins a value that encodes itself.
    mutating func begin() -> Mark {
        let mark = Mark(
            start: end,
            firstNode: firstNode,
            firstMember: members.count,
            strayChanges: strayChanges
        )
        firstNode = nodes.count
        return mark
    }

    /// Ends a value, even if it failed.
    mutating func end(_ mark: Mark) { firstNode = mark.firstNode }

    /// Completes the text of a value, and returns where that begins.
    mutating func complete(_ node: Int, _ mark: Mark) -> Int {
        settle(node)
        var start = nodes[node].start
        if nodes[node].isPlain, nodes[node].end == end {
            close(node)
        } else {
            start = replaceText(after: mark, with: text(of: node))
        }
        if mark.strayChanges == strayChanges {
            while members.count > mark.firstMember { members.removeLast() }
            while nodes.count > firstNode { nodes.removeLast() }
        }
        return start
    }

    /// Replaces what was written since a mark, and returns where the new text begins.
    mutating func replaceText(after mark: Mark, with text: [UInt8]) -> Int {
        removeText(after: mark)
        let start = end
        writer.bytes.append(contentsOf: text)
        return start
    }

    /// Removes what was written since a mark, if nothing refers to it.
    mutating func removeText(after mark: Mark) {
        if mark.strayChanges == strayChanges { writer.bytes.removeLast(end - mark.start) }
    }

    // MARK: - Nodes

    /// Whether a node still exists; a model may keep an encoder for too long.
    func has(_ node: Int, number: Int) -> Bool { node < nodes.count && nodes[node].number == number }

    /// Adds the node of a field, which is complete only when all fields are.
    mutating func addFieldNode(at place: consuming CodingPlace) -> Int {
        strayChanges += 1
        return addNode(at: place, depth: 1)
    }

    /// Adds a node that is no member of another one.
    mutating func addNode(at place: consuming CodingPlace, depth: Int, parent: Int? = nil) -> Int {
        lastNumber += 1
        nodes.append(
            Node(
                number: lastNumber,
                place: place,
                depth: depth,
                parent: parent,
                start: end,
                end: end
            )
        )
        return nodes.count - 1
    }

    /// Adds a node that is the next member of another one.
    mutating func addNode(to parent: Int, at key: any CodingKey, _ name: String) -> Int {
        let start = beginMember(name, of: parent)
        let place = CodingPlace(path(of: parent), key)
        let node = addNode(at: place, depth: nodes[parent].depth + 1, parent: parent)
        append(
            Member(key: name, text: start..<start, child: node, previous: nodes[parent].lastMember),
            to: parent
        )
        nodes[parent].openChild = node
        return node
    }

    /// The path of a node, which is assembled only if it is needed, and once.
    mutating func path(of node: Int) -> [any CodingKey] {
        if let path = nodes[node].path { return path }
        let path = nodes[node].place.codingPath
        nodes[node].path = path
        return path
    }

    /// Decides what a node is.
    mutating func decide(_ shape: Node.Shape, of node: Int) {
        noteChange(of: node)
        nodes[node].shape = shape
        guard nodes[node].isPlain, nodes[node].end == end, nodes[node].count < 2 else { return spoil(node) }
        switch shape {
        case .object: writer.bytes.append(UInt8(ascii: "{"))
        case .array: writer.bytes.append(UInt8(ascii: "["))
        case .single, .undecided: break
        }
        nodes[node].end = end
    }

    // MARK: - Members

    /// Begins the next member, and returns where its value begins.
    mutating func beginMember(_ key: String, of node: Int) -> Int {
        noteChange(of: node)
        settle(node)
        if nodes[node].end != end || !isNext(key, in: node) { spoil(node) }
        if nodes[node].count > 0 { writer.bytes.append(UInt8(ascii: ",")) }
        writer.restart()
        if nodes[node].shape == .object { writer.key(key) }
        return end
    }

    /// Ends a member with its text, which may not follow its key.
    mutating func endMember(_ key: String, of node: Int, _ start: Int, text: Int) {
        if start != text { spoil(node) }
        let last = nodes[node].lastMember
        // Only a comma is between elements that were added one after the other.
        if let last, nodes[node].shape == .array, members[last].child == nil, start == text,
            members[last].text.upperBound == text - 1
        {
            members[last].text = members[last].text.lowerBound..<end
            nodes[node].count += 1
        } else {
            append(Member(key: key, text: text..<end, child: nil, previous: last), to: node)
        }
        nodes[node].end = end
    }

    private mutating func noteChange(of node: Int) { if node < firstNode { strayChanges += 1 } }

    private mutating func append(_ member: Member, to node: Int) {
        nodes[node].lastMember = members.count
        nodes[node].count += 1
        members.append(member)
    }

    /// Whether a key is greater than that of the last member.
    private func isNext(_ key: String, in node: Int) -> Bool {
        guard nodes[node].shape == .object, let last = nodes[node].lastMember else { return true }
        return members[last].key.precedes(key)
    }

    /// Notes that the text of a node, and so of those that it is a part of, is not complete in the buffer.
    ///
    /// What changes an empty node that is closed may write nothing, so that the nodes around it end where they did.
    private mutating func spoil(_ node: Int) {
        var next: Int? = node
        while let node = next, nodes[node].isPlain {
            nodes[node].isPlain = false
            next = nodes[node].parent
        }
    }

    /// Completes the text of the last member for now; if that gets more members, the node is not plain.
    private mutating func settle(_ node: Int) {
        guard let child = nodes[node].openChild else { return }
        nodes[node].openChild = nil
        settle(child)
        if nodes[child].isPlain, nodes[child].end == end {
            close(child)
            nodes[node].end = end
        } else {
            spoil(node)
        }
    }

    private mutating func close(_ node: Int) {
        switch nodes[node].shape {
        case .object: writer.bytes.append(UInt8(ascii: "}"))
        case .array: writer.bytes.append(UInt8(ascii: "]"))
        case .undecided: writer.bytes.append(contentsOf: "{}".utf8)
        case .single: break
        }
    }

    // MARK: - Text

    /// Data with the text from a position on.
    mutating func data(from start: Int) -> Data {
        writer.bytes.withUnsafeBytes { Data(UnsafeRawBufferPointer(rebasing: $0[start...])) }
    }

    /// The text of a node, assembled.
    func text(of node: Int) -> [UInt8] {
        var writer = JSONWriter(reserving: 128, escapesSlashes: true)
        write(node, to: &writer)
        return writer.bytes
    }

    /// Writes a node; the recursion is bounded, since nodes are never nested deeper than the encoder's limit.
    private func write(_ node: Int, to writer: inout JSONWriter) {
        let members = members(of: node)
        switch nodes[node].shape {
        case .single: if let member = members.last { write(member, to: &writer) }
        case .array:
            writer.beginArray()
            for member in members { write(member, to: &writer) }
            writer.endArray()
        case .object, .undecided:
            writer.beginObject()
            for member in sorted(members) {
                writer.key(member.key)
                write(member, to: &writer)
            }
            writer.endObject()
        }
    }

    private func write(_ member: Member, to writer: inout JSONWriter) {
        if let child = member.child {
            write(child, to: &writer)
        } else {
            writer.raw(self.writer.bytes[member.text])
        }
    }

    private func members(of node: Int) -> [Member] {
        var members: [Member] = []
        members.reserveCapacity(nodes[node].count)
        var next = nodes[node].lastMember
        while let member = next.map({ self.members[$0] }) {
            members.append(member)
            next = member.previous
        }
        members.reverse()
        return members
    }

    /// The members in the order of their keys' bytes; of those with equal keys, the last one.
    private func sorted(_ members: [Member]) -> [Member] {
        // `<` has no fixed order for some keys of different Unicode forms. The sort is stable.
        let sorted = members.sorted { $0.key.precedes($1.key) }
        let ends = zip(sorted, sorted.dropFirst()).map { $0.key.precedes($1.key) } + [true]
        return zip(sorted, ends).filter(\.1).map(\.0)
    }
}
