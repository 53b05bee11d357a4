/// Prints the demo's steps, and collects failed checks.
final class Narrator {
    private let output: Output
    private let usesColor: Bool
    private(set) var failures: [String] = []
    private var chapters = 0

    init(_ output: Output, usesColor: Bool) {
        self.output = output
        self.usesColor = usesColor
    }

    func begins(_ title: String, _ lines: String...) throws {
        try output.write(styled(title, "1") + "\n" + lines.map { $0 + "\n" }.joined())
    }

    func chapter(_ title: String) throws {
        chapters += 1
        try output.write("\n" + styled("\(chapters). \(title)", "1") + "\n")
    }

    /// Prints a step.
    func tells(_ who: String, _ what: String) throws {
        let name = who + String(repeating: " ", count: max(0, 10 - who.count))
        try output.write("   \(styled(name, "36"))\(what)\n")
    }

    /// Prints a check, and remembers it if it failed.
    func checks(_ fact: String, _ isTrue: Bool) throws {
        if !isTrue { failures.append(fact) }
        try output.write("   \(isTrue ? styled("✓", "32") : styled("✗", "31")) \(fact)\n")
    }

    private func styled(_ text: String, _ style: String) -> String {
        usesColor ? "\u{1B}[\(style)m\(text)\u{1B}[0m" : text
    }
}
