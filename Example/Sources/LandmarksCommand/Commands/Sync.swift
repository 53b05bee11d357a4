import ArgumentParser
import CodableSync
import LandmarkModel

/// Sends and fetches.
struct Sync: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Send pending changes, fetch other devices' changes, and print a summary."
    )

    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup var options: DeviceOptions

    func run() async throws {
        let summary = try await options.chosenDevice().withEngine { engine in
            try await SyncProgress(engine: engine).sync()
        }
        try Output.standard.write(
            json ? JSONText.of(SummaryDocument(summary)) + "\n" : Self.text(of: summary)
        )
    }

    static func text(of summary: SyncSummary) -> String {
        var parts = [
            "\(summary.sent) sent", "\(summary.deleted) deleted", "\(summary.fetched) fetched",
            "\(summary.conflictsResolved) conflicts resolved",
        ]
        if summary.undecodable > 0 {
            parts.append("\(summary.undecodable) not decodable (kept)")
        }
        if summary.parked > 0 { parts.append("\(summary.parked) parked (see 'landmarks status')") }
        if summary.pending > 0 { parts.append("\(summary.pending) pending") }
        return parts.joined(separator: ", ") + "\n"
    }
}

/// A summary as `sync --json` prints it.
struct SummaryDocument: Encodable, Equatable {
    var sent: Int
    var deleted: Int
    var fetched: Int
    var undecodable: Int
    var conflictsResolved: Int
    var parked: Int
    var pending: Int

    init(_ summary: SyncSummary) {
        sent = summary.sent
        deleted = summary.deleted
        fetched = summary.fetched
        undecodable = summary.undecodable
        conflictsResolved = summary.conflictsResolved
        parked = summary.parked
        pending = summary.pending
    }
}
