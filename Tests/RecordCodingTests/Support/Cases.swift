import Foundation

/// The number of random values that a test tries: a sample, or all of them with `EXHAUSTIVE=1` in the
/// environment.
enum Cases {
    static func sample(_ few: Int, of all: Int) -> Int {
        ProcessInfo.processInfo.environment["EXHAUSTIVE"] == "1" ? all : few
    }
}
