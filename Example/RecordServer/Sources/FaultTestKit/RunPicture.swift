import Foundation

/// A picture of one run, as SVG: who was cut off when, and how far each client was behind.
public struct RunPicture {
    private struct Fault {
        var name: Substring
        var begin: Int
        var end: Int
    }

    private let begin: Int
    private let end: Int
    private let healed: Int
    /// By client; the server's are the last.
    private let faults: [[Fault]]
    /// By client: how many changes it had not seen, and when.
    private let behind: [[(time: Int, count: Int)]]

    private static let width = 1000.0
    private static let laneHeight = 70.0
    private static let left = 90.0
    private static let colours = [
        "cut requests+responses": "#c0392b", "cut requests": "#e67e22", "cut responses": "#f1c40f",
        "stop": "#8e44ad", "kill": "#2c3e50", "clock": "#2980b9",
    ]

    /// Reads the files of a run.
    ///
    /// - Parameter directory: The run's directory, which `--keep` keeps.
    /// - Throws: An error if a file can't be read.
    public init(of directory: URL) throws {
        let lines = try String(contentsOf: directory.appending(path: "timeline.log"), encoding: .utf8)
            .split(separator: "\n").map { $0.split(separator: " ", maxSplits: 2) }
        let clients = (0..<Entry.clientCount).map { directory.appending(path: "client-\($0)") }
        let logs = try clients.map { client in
            ClientLog(try String(contentsOf: client.appending(path: "calls.log"), encoding: .utf8))
        }
        let seen = try clients.map { client in
            try String(contentsOf: client.appending(path: "progress.log"), encoding: .utf8)
                .split(separator: "\n").compactMap { line -> (time: Int, count: Int)? in
                    let words = line.split(separator: " ").compactMap { Int($0) }
                    return words.count == 2 ? (words[0], words[1]) : nil
                }
        }
        let times = lines.compactMap { $0.first.flatMap { Int($0) } }
        begin = (logs.flatMap { $0.attempts.prefix(1).map(\.began) } + times).min() ?? 0
        healed = lines.last { $0.dropFirst().first == "healed" }?.first.flatMap { Int($0) } ?? begin
        end = max(healed, seen.flatMap { $0.suffix(1).map(\.time) }.max() ?? healed)
        behind = seen.map { samples in
            samples.map { sample in
                (sample.time, max(0, logs.reduce(0) { $0 + $1.progress(until: sample.time) } - sample.count))
            }
        }
        var faults = [[Fault]](repeating: [], count: Entry.clientCount + 1)
        for line in lines where line.count == 3 {
            guard let time = line.first.flatMap({ Int($0) }) else { continue }
            let place =
                (0..<Entry.clientCount).first { line[2].contains("client-\($0)") } ?? Entry.clientCount
            if line[1] == "begin" {
                faults[place].append(Fault(name: line[2], begin: time, end: healed))
            } else if let index = faults[place].lastIndex(where: { $0.name == line[2] }) {
                faults[place][index].end = time
            }
        }
        self.faults = faults
    }

    /// The picture.
    public var svg: String {
        let height = Self.laneHeight * Double(Entry.clientCount) + 100
        var parts = [
            ##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \##(Int(Self.width)) \##(Int(height))" font-family="sans-serif" font-size="11">"##,
            ##"<rect width="100%" height="100%" fill="white"/>"##,
        ]
        for client in 0..<Entry.clientCount { parts += lane(of: client) }
        let top = Self.laneHeight * Double(Entry.clientCount) + 20
        parts.append(text(8, top + 8, "server"))
        parts += faults[Entry.clientCount].map { bar($0, top) }
        let line = x(healed)
        parts.append(
            ##"<line x1="\##(line)" x2="\##(line)" y1="0" y2="\##(top + 14)" stroke="#27ae60" stroke-dasharray="4 3"/>"##
        )
        parts.append(text(Double(line) ?? 0, top + 26, "healed"))
        parts += legend(top + 50)
        return (parts + ["</svg>", ""]).joined(separator: "\n")
    }

    private func lane(of client: Int) -> [String] {
        let top = Self.laneHeight * Double(client) + 10
        let most = max(1, behind.flatMap { $0.map(\.count) }.max() ?? 1)
        let base = top + Self.laneHeight - 14
        let points = behind[client].map { sample in
            "\(x(sample.time)),\(number(base - Double(sample.count) / Double(most) * (Self.laneHeight - 32)))"
        }
        let peak = behind[client].map(\.count).max() ?? 0
        return faults[client].map { bar($0, top) } + [
            text(8, top + 9, "client \(client)"), text(8, top + 24, "at most \(peak)"),
            text(8, top + 36, "behind"),
            ##"<line x1="\##(Self.left)" x2="\##(Self.width - 10)" y1="\##(base)" y2="\##(base)" stroke="#bbb"/>"##,
            ##"<polyline fill="none" stroke="#16a085" stroke-width="1.5" points="\##(points.joined(separator: " "))"/>"##,
        ]
    }

    private func bar(_ fault: Fault, _ top: Double) -> String {
        let kind = Self.colours.keys.filter { fault.name.hasPrefix($0) || fault.name.contains($0) }
            .max { $0.count < $1.count }
        let cut = fault.name.hasPrefix("cut") ? "cut " + (fault.name.split(separator: " ").last ?? "") : nil
        let colour = Self.colours[cut ?? kind ?? ""] ?? "#7f8c8d"
        let width = max(2, (Double(x(fault.end)) ?? 0) - (Double(x(fault.begin)) ?? 0))
        return
            ##"<rect x="\##(x(fault.begin))" y="\##(top)" width="\##(number(width))" height="10" fill="\##(colour)">"##
            + "<title>\(fault.name)</title></rect>"
    }

    private func legend(_ top: Double) -> [String] {
        Self.colours.sorted { $0.key < $1.key }.enumerated().flatMap { index, entry in
            let left = Self.left + Double(index) * 145
            return [
                ##"<rect x="\##(number(left))" y="\##(top)" width="10" height="10" fill="\##(entry.value)"/>"##,
                text(left + 14, top + 9, entry.key),
            ]
        }
    }

    private func text(_ x: Double, _ y: Double, _ text: String) -> String {
        ##"<text x="\##(number(x))" y="\##(number(y))" fill="#222">\##(text)</text>"##
    }

    private func x(_ time: Int) -> String {
        let share = Double(time - begin) / Double(max(1, end - begin))
        return number(Self.left + share * (Self.width - Self.left - 10))
    }

    private func number(_ value: Double) -> String { String(format: "%.1f", value) }
}
