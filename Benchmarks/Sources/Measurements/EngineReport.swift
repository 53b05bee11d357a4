/// The table of an engine that reads, writes and syncs.
package struct EngineReport {
    private let timings: Timings
    private let own = "CodableSync"
    private let others = [(id: "GRDB", title: "GRDB"), (id: "JSON", title: "JSON")]
    private let actions = [
        (id: "upload-one-written", title: "upload one, written"),
        (id: "upload-one-flushed", title: "upload one, flushed"),
        (id: "edit-one-written", title: "edit one, written"),
        (id: "read-one", title: "read one by name"),
        (id: "upload-by-100-callers-flushed", title: "upload one, 100 callers at once, flushed"),
        (id: "upload-10000-at-once", title: "upload 10 000 in one call, flushed"),
        (id: "sync-10000", title: "sync 10 000"),
        (id: "fetch-and-deliver-10000", title: "fetch 10 000 and deliver them"),
        (id: "open-20000-and-read-one", title: "open 20 000, read one"),
        (id: "open-20000-and-read-all", title: "open 20 000, read all"),
    ]

    package init(_ timings: Timings) { self.timings = timings }

    /// This package's own times for one model, or for all where one is opened, and how many times as long the others
    /// take.
    ///
    /// - Returns: Markdown.
    /// - Throws: ``MeasurementError`` if something is missing.
    package func table() throws -> String {
        var table = MarkdownTable(["", own] + others.map(\.title))
        for action in actions {
            let work = "engine/\(action.id)"
            let time = try timings.time("\(work)/\(own)")
            let cells = try others.map { other in
                guard timings.microseconds["\(work)/\(other.id)"] != nil else { return "" }
                return "\(try timings.ratio("\(work)/\(other.id)", to: "\(work)/\(own)").formatted) ×"
            }
            let text = time < 10_000 ? "\(time.formatted) µs" : "\((time / 1000).formatted) ms"
            table.add([action.title, text] + cells)
        }
        return table.text
    }
}
