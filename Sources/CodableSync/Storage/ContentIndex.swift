/// The positions of stored contents.
///
/// Layers that are frozen for a compaction are replaced in one step, independent of their size.
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

    /// Starts a new layer, and returns the number of frozen layers.
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
