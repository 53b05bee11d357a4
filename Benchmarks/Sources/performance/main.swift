import Foundation
import Measurements

// What Scripts/check-performance and Scripts/measure-performance do with results.

let usage = """
    usage:
      performance check PROFILE LIMITS               compares a profile with the limits; exits 1 if one is exceeded
      performance update PROFILE LIMITS PERCENT      sets limits above their aims to its values and some percent
      performance report ROUNDS PROFILE LIMITS PAGE SYSTEM    writes the tables of the page, and its plots beside it
    """

/// Prints every limit with its value.
///
/// - Returns: Whether all are kept.
func check(_ works: CountedWorks, _ limits: Limits, named file: String) throws -> Bool {
    let findings = try limits.findings(in: works)
    for finding in findings where finding.passes {
        print("  \(finding.complaint)")
    }
    let failures = findings.filter { !$0.passes }
    for failure in failures {
        print("✗ \(failure.complaint)")
    }
    guard failures.isEmpty else {
        print("check-performance: \(failures.count) of \(findings.count) limits in \(file) are exceeded")
        return false
    }
    print("check-performance: all \(findings.count) limits are kept")
    return true
}

func report(rounds: URL, works: CountedWorks, limits: Limits, page file: URL, system: String) throws {
    let files = try FileManager.default.contentsOfDirectory(at: rounds, includingPropertiesForKeys: nil)
        .map { $0.appending(path: "Current_run.jmh.json") }
        .filter { FileManager.default.fileExists(atPath: $0.path) }
    let timings = try Timings(rounds: files.map { try Timings(jmh: Data(contentsOf: $0)) })
    let coding = CodingReport(timings)
    var page = GeneratedPage(try String(contentsOf: file, encoding: .utf8))
    try page.replace("system", with: system)
    try page.replace("engine", with: EngineReport(timings).table())
    try page.replace("models", with: coding.modelTable())
    try page.replace("kinds", with: coding.kindTable())
    try page.replace("rest", with: coding.restTable())
    try page.replace("limits", with: limits.table(for: works))
    let folder = file.deletingLastPathComponent()
    let name = file.deletingPathExtension().lastPathComponent
    let plots = [
        ("\(name).svg", coding.modelChart(subtitle: system)),
        ("\(name)-kinds.svg", coding.kindChart(subtitle: system)),
    ]
    for (name, chart) in plots {
        try Data(chart.svg.utf8).write(to: folder.appending(path: name), options: .atomic)
    }
    try Data(page.text.utf8).write(to: file, options: .atomic)
    print("measure-performance: \(file.path) and \(plots.count) plots are written")
}

func run(_ arguments: [String]) throws -> Bool {
    let urls = arguments.map { URL(filePath: $0) }
    switch (arguments.first, arguments.count) {
    case ("check", 3):
        return try check(CountedWorks(directory: urls[1]), Limits(file: urls[2]), named: arguments[2])
    case ("update", 4):
        guard let percent = Double(arguments[3]), (0...100).contains(percent) else {
            throw MeasurementError("\"\(arguments[3])\" is not a number of percent from 0 to 100.")
        }
        let limits = try Limits(file: urls[2]).updated(
            from: CountedWorks(directory: urls[1]),
            adding: percent
        )
        try limits.json.write(to: urls[2], options: .atomic)
        print("check-performance: \(arguments[2]) has the values of this run, and \(percent.formatted) %")
        return true
    case ("report", 6):
        let works = try CountedWorks(directory: urls[2])
        try report(
            rounds: urls[1],
            works: works,
            limits: Limits(file: urls[3]),
            page: urls[4],
            system: arguments[5]
        )
        return true
    default:
        throw MeasurementError(usage)
    }
}

do {
    exit(try run(Array(CommandLine.arguments.dropFirst())) ? 0 : 1)
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(2)
}
