import CodableSync
import Foundation

extension SecondProcess {
    /// Writes pages, with numbers derived from the seed, until it is killed; prints each edit once it is
    /// acknowledged.
    static func write(_ directory: String, seed: String) async throws {
        guard let seed = UInt64(seed) else { return say(usage) }
        var random = SeededNumbers(seed: seed)
        let writer = StateWriter(in: directory)
        // Greater than all numbers of earlier rounds.
        var number = Int(seed % 1_000_000) * 1_000_000
        while true {
            number += 1
            try await writer.step(number, &random) { say("\($0)") }
        }
    }

    /// Runs rounds in a directory and exits with status 1 if anything was lost.
    static func rounds(
        _ arguments: [String],
        _ run: (_ directory: String, _ seed: UInt64, _ rounds: Int) async throws -> Report
    ) async throws {
        guard let rounds = Int(arguments[2]), let seed = UInt64(arguments[3]) else {
            say(usage)
            exit(64)
        }
        let report = try await run(arguments[1], seed, rounds)
        say("\(report)")
        exit(report.losses.isEmpty && report.acknowledged > 0 ? 0 : 1)
    }
}

/// The results of many rounds.
struct Report: CustomStringConvertible {
    var rounds = 0
    /// The number of acknowledged edits and deletions.
    var acknowledged = 0
    /// The number of rounds that left a new snapshot, which means that the files were compacted.
    var compactions = 0
    /// The number of kills that interrupted a compaction.
    var interrupted = 0
    var losses: [String] = []

    var description: String {
        let numbers =
            "\(rounds) rounds, \(acknowledged) acknowledged, \(compactions) with a compaction, "
            + "\(interrupted) in the middle of one, \(losses.count) lost"
        return ([numbers] + losses.prefix(20)).joined(separator: "\n")
    }
}

/// The pages that must be found again after each round.
struct Expectation {
    private let directory: String
    private var known: [String: WriterNote] = [:]
    /// Pages with a deletion that was started and not acknowledged.
    private var mayBeGone: Set<String> = []
    private var snapshot: String?
    private(set) var report = Report()

    init(in directory: String) {
        self.directory = directory
    }

    mutating func note(_ note: WriterNote) {
        if note.kind == .deleting {
            mayBeGone.insert(note.name)
        } else {
            mayBeGone.remove(note.name)
            known[note.name] = note
            report.acknowledged += 1
        }
    }

    /// Examines the files that the round left.
    mutating func lookAtFiles() throws {
        let path = directory.appending(path: "state/users/1")
        let fileSystem = LocalFileSystem()
        guard try fileSystem.status(of: path) != nil else { return }
        let names = try fileSystem.contents(ofDirectory: path)
        if names.contains(where: { $0.hasPrefix("snapshot") && $0.hasSuffix(".tmp") }) {
            report.interrupted += 1
        }
        let newest = names.last { $0.hasPrefix("snapshot") && !$0.hasSuffix(".tmp") }
        if newest != snapshot { report.compactions += 1 }
        snapshot = newest
    }

    /// Compares the pages with what was acknowledged; anything that was in progress may be there or not.
    mutating func check(_ pages: [Page]) {
        report.rounds += 1
        let found = Dictionary(pages.map { ($0.name, $0.number) }, uniquingKeysWith: max)
        for note in known.values where !holds(note, found[note.name]) {
            let what = found[note.name].map { "\($0)" } ?? "nothing"
            report.losses.append("round \(report.rounds): \(note) and there is \(what)")
        }
        // The pages found now are the baseline for the next round.
        known = found.reduce(into: known) {
            $0[$1.key] = WriterNote(kind: .wrote, name: $1.key, number: $1.value)
        }
        for name in known.keys where found[name] == nil { known[name]?.kind = .deleted }
        mayBeGone = []
    }

    /// Whether the number, if there is one, belongs to this edit or a later one.
    private func holds(_ note: WriterNote, _ number: Int?) -> Bool {
        guard let number else { return note.kind == .deleted || mayBeGone.contains(note.name) }
        return note.kind == .deleted ? number > note.number : number >= note.number
    }
}

/// Writers that are killed at any moment.
struct KilledWriters {
    private let directory: String
    private var random: SeededNumbers
    private var expectation: Expectation

    private init(in directory: String, seed: UInt64) {
        self.directory = directory
        random = SeededNumbers(seed: seed)
        expectation = Expectation(in: directory)
    }

    static func run(in directory: String, seed: UInt64, rounds: Int) async throws -> Report {
        var writers = KilledWriters(in: directory, seed: seed)
        return try await writers.run(rounds)
    }

    private mutating func run(_ rounds: Int) async throws -> Report {
        for round in 0..<rounds {
            for line in try killWriter(round).split(separator: "\n", omittingEmptySubsequences: true) {
                if let note = WriterNote(line) {
                    expectation.note(note)
                } else if line.hasPrefix("asked") {
                    SecondProcess.say("round \(round + 1): \(line)")
                }
            }
            try expectation.lookAtFiles()
            let writer = StateWriter(in: directory)
            expectation.check(try await writer.engine.allModels())
            try await writer.close()
        }
        return expectation.report
    }

    /// Runs a writer, kills it after a random time, and returns its output.
    private mutating func killWriter(_ round: Int) throws -> String {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        #if canImport(Darwin)
            process.executableURL = Bundle.main.executableURL
        #endif
        process.arguments = ["write", directory, "\(round + 1)"]
        process.standardOutput = output
        try process.run()
        // Most rounds wait for the first output and so interrupt writing; some interrupt opening.
        var said = Data()
        if Int.random(in: 0..<8, using: &random) > 0 {
            said = output.fileHandleForReading.availableData
        }
        usleep(UInt32.random(in: 0..<40_000, using: &random))
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        said += output.fileHandleForReading.readDataToEndOfFile()
        return String(decoding: said, as: UTF8.self)
    }
}

/// Writers that are closed while work is in progress.
struct ClosedWriters {
    private let directory: String
    private var random: SeededNumbers
    private var expectation: Expectation

    private init(in directory: String, seed: UInt64) {
        self.directory = directory
        random = SeededNumbers(seed: seed)
        expectation = Expectation(in: directory)
    }

    static func run(in directory: String, seed: UInt64, rounds: Int) async throws -> Report {
        var writers = ClosedWriters(in: directory, seed: seed)
        return try await writers.run(rounds)
    }

    private mutating func run(_ rounds: Int) async throws -> Report {
        for round in 0..<rounds {
            let writer = StateWriter(in: directory)
            for step in 0..<Int.random(in: 1...12, using: &random) {
                var told: [WriterNote] = []
                try await writer.step(round * 1000 + step + 1, &random) { told.append($0) }
                for note in told { expectation.note(note) }
            }
            try await writer.close()
            // The system reuses the descriptors of closed files for these.
            let others = try (0..<4).map { number in
                let file = try LocalFileSystem()
                    .openFile(at: directory.appending(path: "other-\(number)"), for: .replacing)
                try file.append(Array("not a journal\n".utf8))
                return file
            }
            try expectation.lookAtFiles()
            let next = StateWriter(in: directory)
            expectation.check(try await next.engine.allModels())
            try await next.close()
            for other in others { other.close() }
        }
        return expectation.report
    }
}

/// A small random number generator; equal seeds give equal numbers.
struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
