import Benchmark
import CodingWork

/// Times every work of coding.
///
/// A sample is a thousand repetitions, or one where a work is long; `repeats` says so in the name, since exported
/// results are those of samples.
let benchmarks: @Sendable () -> Void = {
    Benchmark.defaultConfiguration = .init(
        metrics: [.throughput, .wallClock],
        timeUnits: .microseconds,
        warmupIterations: 3,
        maxDuration: .milliseconds(400),
        maxIterations: 100_000
    )
    do {
        for work in try Work.coding() + Work.rows() { measure(work) }
    } catch {
        let reason = String(reflecting: error)
        Benchmark("the samples cannot be coded") { $0.error(reason) }
    }
}

private func measure(_ work: Work) {
    var configuration = Benchmark.defaultConfiguration
    configuration.scalingFactor = work.isLong ? .one : .kilo
    configuration.tags = ["repeats": String(configuration.scalingFactor.rawValue)]
    Benchmark(work.name, configuration: configuration) { benchmark in
        try work.perform(benchmark.scaledIterations.count)
    }
}
