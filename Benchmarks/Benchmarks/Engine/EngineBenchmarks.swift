import Benchmark
import CodingWork

/// Times an engine as an app uses it, from the main actor, beside GRDB and Foundation's JSON coders.
///
/// A sample is one run of a work, which starts and stops the clock itself; `repeats` says how often it does what its
/// name says.
let benchmarks: @Sendable () -> Void = {
    Benchmark.defaultConfiguration = .init(
        metrics: [.throughput, .wallClock],
        timeUnits: .microseconds,
        warmupIterations: 1,
        maxDuration: .seconds(4),
        maxIterations: 20
    )
    for work in EngineWork.writing + EngineWork.syncing + EngineWork.opening { measure(work) }
}

private func measure(_ work: EngineWork) {
    var configuration = Benchmark.defaultConfiguration
    configuration.tags = ["repeats": String(work.repeats)]
    Benchmark(work.name, configuration: configuration) { benchmark in
        let stopwatch = Stopwatch(benchmark: benchmark)
        do { try await work.body(stopwatch) } catch {
            let reason = String(reflecting: error)
            benchmark.error(reason)
        }
    }
}

/// Something that an app does with its models, and what else can do it.
struct EngineWork: Sendable {
    let name: String
    let repeats: Int
    let body: @MainActor @Sendable (Stopwatch) async throws -> Void

    /// Makes a work.
    ///
    /// - Parameters:
    ///   - action: What is done.
    ///   - contender: By whom.
    ///   - repeats: How often `body` does it.
    ///   - body: Does it between the stopwatch's start and stop.
    init(
        _ action: String,
        by contender: Contender,
        repeats: Int,
        _ body: @escaping @MainActor @Sendable (Stopwatch) async throws -> Void
    ) {
        name = "engine/\(action)/\(contender.name)"
        self.repeats = repeats
        self.body = body
    }
}

/// What a sample measures of a work.
///
/// Unchecked: a benchmark is used by one sample at a time, which waits for its work.
struct Stopwatch: @unchecked Sendable {
    fileprivate let benchmark: Benchmark

    func start() { benchmark.startMeasurement() }

    func stop() { benchmark.stopMeasurement() }
}

extension Contender {
    /// GRDB's records in SQLite, in the mode in which an app's database usually is: WAL.
    static let grdb = Contender("GRDB")
}
