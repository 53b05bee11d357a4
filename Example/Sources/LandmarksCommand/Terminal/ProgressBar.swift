/// A progress bar, on a terminal only.
struct ProgressBar: Sendable {
    private static let width = 30

    private let title: String
    private let total: Int
    private let output: Output?

    init(_ title: String, total: Int, on output: Output = .standardError) {
        self.title = title
        self.total = total
        self.output = output.isTerminal ? output : nil
    }

    /// Shows the progress.
    func show(_ done: Int) {
        output?.show("\r" + Self.line(title, done: done, of: total))
    }

    /// Removes the bar.
    func remove() {
        output?.show("\r\u{1B}[2K")
    }

    /// The bar as text: `sending  ██████░░░░  60 of 100`.
    static func line(_ title: String, done: Int, of total: Int) -> String {
        let done = min(max(done, 0), max(total, 0))
        // Floating point, so that no number overflows.
        let filled = total > 0 ? Int(Double(width) * Double(done) / Double(total)) : width
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
        return "\(title)  \(bar)  \(done) of \(total)"
    }
}
