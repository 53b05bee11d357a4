import CodingWork
import Foundation

// Does every work a fixed number of times, for a tool that counts: first a few times unseen, so that caches are
// filled, then in `perform`, whose costs are counted apart from all others. Prints one line for each work: its name
// and how often it was done.

let arguments = CommandLine.arguments.dropFirst()
let works = try Work.coding().filter { work in
    arguments.isEmpty || arguments.contains { work.name.hasPrefix($0) }
}

/// The calls that are counted: a tool knows this function by its name.
@inline(never)
func perform(_ work: Work, _ count: Int) throws {
    try work.perform(count)
}

for work in works {
    let count = work.isLong ? 4 : 100
    try work.perform(work.isLong ? 1 : 10)
    try perform(work, count)
    print(work.name, count)
}
