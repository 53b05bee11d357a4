/// A map from numbers to values, in the order of the numbers.
///
/// A copy costs nothing, and the first change to a copy copies one path of at most 16 entries a node. So the state
/// before a turn can be kept, whatever the number of records.
struct NumberTrie<Value: Sendable>: Sendable {
    struct Entry: Sendable {
        let number: UInt64
        var value: Value
    }

    private var root = Node()
    /// The place of the four bits that choose a child of the root.
    private var shift: UInt64 = 0
    /// The number of values.
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// The value of a number; setting `nil` removes it.
    ///
    /// Complexity: O(log n).
    subscript(number: UInt64) -> Value? {
        get { number >> shift < 16 ? root.value(of: number, shift) : nil }
        set { change(number) { $0 = newValue } }
    }

    /// Changes the value of a number; `nil` is no value.
    mutating func change(_ number: UInt64, _ body: (inout Value?) -> Void) {
        while number >> shift >= 16 {
            root.becomeChild(shift + 4)
            shift += 4
        }
        count += root.change(number, shift, body)
    }

    /// The entry with the least number.
    var first: Entry? { root.first }
}

extension NumberTrie: Sequence {
    /// Gives the entries in order.
    struct Iterator: IteratorProtocol {
        /// The nodes from the root to the current one, each with its children that are left.
        fileprivate var path: [(node: Node, left: UInt16)]

        mutating func next() -> Entry? {
            while let (node, left) = path.last {
                guard left != 0 else {
                    path.removeLast()
                    continue
                }
                let bit = left & (~left &+ 1)
                path[path.count - 1].left ^= bit
                if node.entryBits & bit != 0 { return node.entries[Node.index(of: bit, in: node.entryBits)] }
                let child = node.children[Node.index(of: bit, in: node.childBits)]
                path.append((child, child.bits))
            }
            return nil
        }
    }

    func makeIterator() -> Iterator { Iterator(path: [(root, root.bits)]) }

    /// The entries above a number, in order.
    ///
    /// Complexity: O(log n) to begin.
    func entries(above number: UInt64) -> IteratorSequence<Iterator> {
        guard number >> shift < 16 else { return IteratorSequence(Iterator(path: [])) }
        var path: [(node: Node, left: UInt16)] = []
        var (next, shift): (Node?, UInt64) = (root, shift)
        while let node = next {
            let bit = Node.bit(of: number, shift)
            let isAbove = node.entry(at: bit).map { $0.number > number } ?? false
            // The bits above this one, and this one if its entry is.
            path.append((node, node.bits & ~(bit | (bit - 1)) | (isAbove ? bit : 0)))
            next = node.child(at: bit)
            shift -= next == nil ? 0 : 4
        }
        return IteratorSequence(Iterator(path: path))
    }
}

extension NumberTrie {
    /// Up to 16 entries and children; a child has at least two entries below it.
    fileprivate struct Node: Sendable {
        var entryBits: UInt16 = 0
        var childBits: UInt16 = 0
        var entries: ContiguousArray<Entry> = []
        var children: ContiguousArray<Node> = []

        var bits: UInt16 { entryBits | childBits }

        static func index(of bit: UInt16, in bits: UInt16) -> Int { (bits & (bit - 1)).nonzeroBitCount }

        static func bit(of number: UInt64, _ shift: UInt64) -> UInt16 { 1 << UInt16((number >> shift) & 15) }

        func entry(at bit: UInt16) -> Entry? {
            entryBits & bit == 0 ? nil : entries[Self.index(of: bit, in: entryBits)]
        }

        func child(at bit: UInt16) -> Node? {
            childBits & bit == 0 ? nil : children[Self.index(of: bit, in: childBits)]
        }

        var first: Entry? {
            let bit = bits & (~bits &+ 1)
            if bit & childBits != 0 { return children[0].first }
            return entries.first
        }

        func value(of number: UInt64, _ shift: UInt64) -> Value? {
            let bit = Self.bit(of: number, shift)
            if childBits & bit != 0 {
                return children[Self.index(of: bit, in: childBits)].value(of: number, shift - 4)
            }
            guard entryBits & bit != 0 else { return nil }
            let entry = entries[Self.index(of: bit, in: entryBits)]
            return entry.number == number ? entry.value : nil
        }

        /// Changes a value, and returns the change of the number of values.
        mutating func change(_ number: UInt64, _ shift: UInt64, _ body: (inout Value?) -> Void) -> Int {
            let bit = Self.bit(of: number, shift)
            if childBits & bit != 0 {
                let index = Self.index(of: bit, in: childBits)
                let difference = children[index].change(number, shift - 4, body)
                if children[index].isSingle { replaceChild(at: index, bit) }
                return difference
            }
            let index = Self.index(of: bit, in: entryBits)
            let isEntry = entryBits & bit != 0
            if isEntry, entries[index].number != number {
                var child = Node()
                child.insert(entries[index], at: Self.bit(of: entries[index].number, shift - 4))
                let difference = child.change(number, shift - 4, body)
                if difference == 1 {
                    removeEntry(at: index, bit)
                    childBits |= bit
                    children.insert(child, at: Self.index(of: bit, in: childBits))
                }
                return difference
            }
            var value = isEntry ? entries[index].value : nil
            body(&value)
            switch (isEntry, value) {
            case (true, let value?): entries[index].value = value
            case (true, nil): removeEntry(at: index, bit)
            case (false, let value?): insert(Entry(number: number, value: value), at: bit)
            case (false, nil): break
            }
            return (value == nil ? 0 : 1) - (isEntry ? 1 : 0)
        }

        /// Makes the node the only child of a new one.
        mutating func becomeChild(_ shift: UInt64) {
            if bits == 0 { return }
            var parent = Node()
            if isSingle {
                parent.insert(entries[0], at: Self.bit(of: entries[0].number, shift))
            } else {
                parent.childBits = 1
                parent.children = [self]
            }
            self = parent
        }

        private var isSingle: Bool { childBits == 0 && entries.count == 1 }

        private mutating func insert(_ entry: Entry, at bit: UInt16) {
            entryBits |= bit
            entries.insert(entry, at: Self.index(of: bit, in: entryBits))
        }

        private mutating func removeEntry(at index: Int, _ bit: UInt16) {
            entries.remove(at: index)
            entryBits ^= bit
        }

        /// Puts a child's only entry in the place of the child.
        private mutating func replaceChild(at index: Int, _ bit: UInt16) {
            let entry = children.remove(at: index).entries[0]
            childBits ^= bit
            insert(entry, at: bit)
        }
    }
}

extension NumberTrie.Entry: Equatable where Value: Equatable {}
extension NumberTrie.Node: Equatable where Value: Equatable {}

extension NumberTrie: Equatable where Value: Equatable {
    static func == (lhs: NumberTrie, rhs: NumberTrie) -> Bool {
        if lhs.count != rhs.count { return false }
        return lhs.shift == rhs.shift ? lhs.root == rhs.root : lhs.elementsEqual(rhs)
    }
}
