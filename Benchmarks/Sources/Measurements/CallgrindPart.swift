/// What one part of a callgrind profile counts: everything between two dumps.
package struct CallgrindPart: Equatable {
    /// Executed instructions.
    package var instructions: Int
    /// Calls of functions that allocate.
    package var allocations: Int

    /// The C library's functions that allocate; none of them calls another one by its name.
    private static let allocators: Set<Substring> = [
        "malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc", "memalign",
    ]

    package init(instructions: Int, allocations: Int) {
        self.instructions = instructions
        self.allocations = allocations
    }

    /// Reads a part as callgrind writes it.
    ///
    /// A name stands where its number is used first, as in `fn=(12) malloc`; a line `calls=3 …` belongs to the
    /// `cfn=` before it.
    ///
    /// - Parameter text: The contents of the file.
    /// - Throws: ``MeasurementError`` if there are no totals.
    package init(_ text: String) throws {
        var names: [Substring: Substring] = [:]
        var callee: Substring?
        var totals: Int?
        allocations = 0
        for line in text.utf8.split(separator: UInt8(ascii: "\n")).map(Substring.init) {
            if line.hasPrefix("fn=") || line.hasPrefix("cfn=") {
                let parts = line.split(separator: "=", maxSplits: 1)[1].split(separator: " ", maxSplits: 1)
                guard let number = parts.first else { continue }
                if parts.count == 2 { names[number] = parts[1] }
                if line.hasPrefix("cfn=") { callee = names[number] }
            } else if line.hasPrefix("calls=") {
                guard let callee, CallgrindPart.allocators.contains(callee) else { continue }
                allocations +=
                    line.dropFirst("calls=".count).split(separator: " ").first.flatMap { Int($0) } ?? 0
            } else if line.hasPrefix("totals: ") {
                totals = Int(line.dropFirst("totals: ".count))
            }
        }
        guard let totals else { throw MeasurementError("A part of the profile has no totals.") }
        instructions = totals
    }
}
