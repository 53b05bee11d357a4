/// Where contents are.
///
/// What was frozen for a compaction is replaced in one step, however much it is.
struct ContentIndex: Sendable {
    private var layers: [[ContentHandle: LogPosition]]

    init(_ positions: [ContentHandle: LogPosition]) {
        layers = [positions, [:]]
    }

    subscript(handle: ContentHandle) -> LogPosition? {
        get {
            for layer in layers.reversed() {
                if let position = layer[handle] { return position }
            }
            return nil
        }
        set { layers[layers.count - 1][handle] = newValue }
    }

    /// Goes on in a new layer; returns how many are frozen.
    mutating func freeze() -> Int {
        layers.append([:])
        return layers.count - 1
    }

    mutating func replace(frozenAt count: Int, by positions: [ContentHandle: LogPosition]) {
        layers.replaceSubrange(0..<count, with: [positions])
    }
}

extension LogPosition {
    /// The position of a part of this line.
    func part(_ range: Range<Int>) -> LogPosition {
        LogPosition(
            file: file,
            offset: offset + UInt64(range.lowerBound),
            length: UInt32(clamping: range.count)
        )
    }
}
