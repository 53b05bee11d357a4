/// The end of the visit of an opening: the owner of the log has met all lines, and the directory is unchanged.
package struct LogVisit {
    /// The label of the newest file; `nil` if no header is readable.
    package let label: [UInt8]?
    /// Whether damage was found.
    package let isDamaged: Bool
    let parts: [LogPart]
    /// The lines that the owner cannot read, in the order of the reports.
    private(set) var unreadable: [(position: LogPosition, line: UnreadableLine)] = []

    init(label: [UInt8]?, isDamaged: Bool, parts: [LogPart]) {
        self.label = label
        self.isDamaged = isDamaged
        self.parts = parts
    }

    /// Reports a line that was visited, and of which only now is known that it cannot be read.
    package mutating func report(_ line: UnreadableLine, at position: LogPosition) {
        unreadable.append((position, line))
    }

    /// Visits all lines once more, in the same order.
    package func visitAgain(_ visit: (UnsafeRawBufferPointer, LogPosition) throws -> Void) throws {
        for part in parts { try LogScan.visit(part.ranges, of: part.file, part.name, visit) }
    }
}

/// Finds line numbers for increasing offsets; the file is read only once.
struct LineCounter {
    let file: any OpenFile
    private var line = 1
    private var offset: UInt64 = 0

    init(file: any OpenFile) {
        self.file = file
    }

    mutating func number(ofLineAt position: UInt64) throws -> Int {
        var passed = 0
        try LogLines(file: file, range: offset..<max(offset, position)).forEach { _ in
            passed += 1
            return true
        }
        line += passed
        offset = position
        return line
    }
}
