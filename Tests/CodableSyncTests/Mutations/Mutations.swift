import Foundation
import XCTest

@testable import CodableSync

/// Which mutations run: `MUTATIONS=100000 SEED=7` in the environment replaces the standard ones.
enum Mutations {
    struct Malformed: Error, CustomStringConvertible {
        let name: String
        let text: String
        var description: String { "\(name) is \"\(text)\"; write a number, as in \(name)=1000." }
    }

    /// Whether the standard mutations run; some of these files can still be opened.
    static var areCommitted: Bool { ProcessInfo.processInfo.environment["MUTATIONS"] == nil }

    /// Runs the body with the seed of each mutation.
    ///
    /// A trap ends the process, so each seed is written to the file at `MUTATION_LOG` before it is tried.
    static func forEach(else committed: UInt64, _ body: (UInt64) async throws -> Void) async throws {
        let count = try number("MUTATIONS") ?? committed
        let first = try number("SEED") ?? 0
        var log: FileHandle?
        if let path = ProcessInfo.processInfo.environment["MUTATION_LOG"] {
            try Data().write(to: URL(fileURLWithPath: path))
            log = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        }
        for index in 0..<count {
            let seed = first &+ index
            if let log {
                try log.truncate(atOffset: 0)
                try log.write(contentsOf: Data("\(seed)\n".utf8))
            }
            try await body(seed)
        }
        try log?.close()
    }

    private static func number(_ name: String) throws -> UInt64? {
        guard let text = ProcessInfo.processInfo.environment[name] else { return nil }
        guard let number = UInt64(text) else { throw Malformed(name: name, text: text) }
        return number
    }
}

extension SimulatedFileSystem {
    /// All files except the locks, by path.
    var withoutLocks: [String: [UInt8]] { files.filter { !$0.key.hasSuffix("lock") } }
}
