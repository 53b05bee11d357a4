/// The tables and plots of coding.
package struct CodingReport {
    private let timings: Timings
    private let own = "CodableSync"
    private let others = [
        (id: "JSON", title: "JSON"), (id: "PropertyList", title: "property list"),
        (id: "GRDB", title: "GRDB"),
        (id: "by-hand", title: "by hand"),
    ]
    private let models = [
        (id: "reminder", title: "Small: 3 fields"), (id: "landmark", title: "Medium: 13 fields"),
        (id: "named-landmark", title: "Medium, with recordName { id.uuidString }"),
        (id: "document", title: "Large: 200 KB of text, 1000 doubles"),
    ]
    private let actions = [
        (id: "encode", title: "model → record"), (id: "decode", title: "record → model"),
        (id: "write-line", title: "record → line"), (id: "read-line", title: "line → record"),
        (id: "save", title: "model → stored"), (id: "load", title: "stored → model"),
    ]

    package init(_ timings: Timings) { self.timings = timings }

    /// How many times as long the others take, and this package's own times.
    ///
    /// - Throws: ``MeasurementError`` if something is missing.
    package func modelTable() throws -> String {
        var table = MarkdownTable(["", own] + others.map(\.title))
        for model in models {
            table.add(["**\(model.title)**"] + Array(repeating: "", count: others.count + 1))
            for action in actions where timings.microseconds["\(model.id)/\(action.id)/\(own)"] != nil {
                let work = "\(model.id)/\(action.id)"
                let cells = others.map { other in ratio(work, other.id).map { "\($0.formatted) ×" } ?? "" }
                table.add([action.title, "\(try timings.time("\(work)/\(own)").formatted) µs"] + cells)
            }
        }
        return table.text
    }

    /// The plot of the models.
    ///
    /// - Parameter subtitle: On what it was measured.
    /// - Returns: A plot of ratios.
    package func modelChart(subtitle: String) -> Chart {
        let groups = models.map { model in
            let rows = actions.compactMap { action -> Chart.Row? in
                let dots = others.indices.compactMap { index in
                    ratio("\(model.id)/\(action.id)", others[index].id).map {
                        Chart.Dot(series: index, ratio: $0)
                    }
                }
                return dots.isEmpty ? nil : Chart.Row(title: action.title, dots: dots)
            }
            return Chart.Group(title: model.title, rows: rows)
        }
        return Chart(
            title: "How long others take, compared with \(own)",
            subtitle: subtitle,
            series: others.map(\.title),
            unit: "\(own) = 1",
            groups: groups
        )
    }

    /// Eight fields of each kind, compared with JSON.
    ///
    /// - Throws: ``MeasurementError`` if something is missing.
    package func kindTable() throws -> String {
        var table = MarkdownTable(["eight fields of", "encode", "JSONEncoder", "decode", "JSONDecoder"])
        for kind in kindNames {
            var cells = [kind.replacing("-", with: " ")]
            for action in ["encode", "decode"] {
                let work = "kind:\(kind)/\(action)"
                let ratio = try timings.ratio("\(work)/JSON", to: "\(work)/\(own)")
                cells += ["\(try timings.time("\(work)/\(own)").formatted) µs", "\(ratio.formatted) ×"]
            }
            table.add(cells)
        }
        return table.text
    }

    /// The plot of the kinds.
    ///
    /// - Parameter subtitle: On what it was measured.
    /// - Returns: A plot of ratios.
    package func kindChart(subtitle: String) -> Chart {
        let rows = kindNames.map { kind in
            let dots = ["encode", "decode"].enumerated().compactMap { index, action in
                ratio("kind:\(kind)/\(action)", "JSON").map { Chart.Dot(series: index, ratio: $0) }
            }
            return Chart.Row(title: kind.replacing("-", with: " "), dots: dots)
        }
        return Chart(
            title: "How long JSON takes for eight fields of a kind, compared with \(own)",
            subtitle: subtitle,
            series: ["encode", "decode"],
            unit: "\(own) = 1",
            groups: [Chart.Group(title: "", rows: rows)]
        )
    }

    /// What belongs to a record beside its fields.
    ///
    /// - Throws: ``MeasurementError`` if something is missing.
    package func restTable() throws -> String {
        var table = MarkdownTable(["", "compared with", "ratio"])
        let fields = "\(own)-with-system-fields"
        for action in actions.prefix(4) {
            let ratio = try timings.ratio(
                "landmark/\(action.id)/\(fields)",
                to: "landmark/\(action.id)/\(own)"
            )
            table.add(["\(action.title), with system fields", "without", "\(ratio.formatted) ×"])
        }
        let encode = try timings.time("landmark/encode/\(own)")
        let decode = try timings.time("landmark/decode/\(own)")
        let merge = try timings.time("landmark/merge/\(own)") / (3 * encode + decode)
        table.add(["`merged()` with an ancestor", "three encodes and a decode", "\(merge.formatted) ×"])
        let twoSided = try timings.time("landmark/merge/\(own)-without-ancestor") / (2 * encode + decode)
        table.add(["`merged()` without one", "two encodes and a decode", "\(twoSided.formatted) ×"])
        for action in actions.prefix(2) {
            let share = try timings.ratio(
                "named-landmark/name/\(own)",
                to: "named-landmark/\(action.id)/\(own)"
            )
            table.add([
                "`recordName { id.uuidString }`", "\(action.id), of which it is a part",
                "\((share * 100).formatted) %",
            ])
        }
        for model in models where timings.microseconds["\(model.id)/check-size/\(own)"] != nil {
            let share = try timings.ratio("\(model.id)/check-size/\(own)", to: "\(model.id)/encode/\(own)")
            table.add([
                "size check, \(model.id)", "encode, of which it is a part", "\((share * 100).formatted) %",
            ])
        }
        return table.text
    }

    private var kindNames: [String] {
        let names = timings.microseconds.keys.compactMap { name -> String? in
            let parts = name.split(separator: "/")
            guard parts.count == 3, parts[0].hasPrefix("kind:") else { return nil }
            return String(parts[0].dropFirst("kind:".count))
        }
        return Set(names).sorted { $0.lowercased() < $1.lowercased() }
    }

    private func ratio(_ work: String, _ other: String) -> Double? {
        guard let time = timings.microseconds["\(work)/\(other)"],
            let mine = timings.microseconds["\(work)/\(own)"]
        else { return nil }
        return time / mine
    }
}

extension Limits {
    /// Each limit with its value, as a table.
    ///
    /// - Parameter works: The counts.
    /// - Returns: Markdown.
    /// - Throws: ``MeasurementError`` if a limit names a work that was not done.
    package func table(for works: CountedWorks) throws -> String {
        var table = MarkdownTable(["", "value", "limit", "aim"])
        for finding in try findings(in: works) {
            let limit = finding.limit
            table.add([
                limit.title, finding.value.formatted, limit.most.formatted, limit.aim?.formatted ?? "",
            ])
        }
        return table.text
    }
}
