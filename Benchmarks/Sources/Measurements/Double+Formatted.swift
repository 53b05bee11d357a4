import Foundation

extension Double {
    /// Three significant digits at most, with thin spaces between thousands: `0.21`, `5.3`, `1 234`.
    package var formatted: String {
        guard isFinite else { return "–" }
        if magnitude >= 1000 {
            let digits = String(Int(rounded()).magnitude)
            var groups: [Substring] = []
            var rest = digits[...]
            while !rest.isEmpty {
                groups.insert(rest.suffix(3), at: 0)
                rest = rest.dropLast(3)
            }
            return (self < 0 ? "−" : "") + groups.joined(separator: "\u{2009}")
        }
        let decimals = magnitude >= 100 ? 0 : magnitude >= 10 ? 1 : magnitude >= 0.1 ? 2 : 3
        let text = String(format: "%.\(decimals)f", self)
        guard text.contains(".") else { return text }
        let trimmed = text.reversed().drop { $0 == "0" }.drop { $0 == "." }
        return String(trimmed.reversed())
    }

    /// Three significant digits, rounded up, so that a limit holds for the value it was made from.
    var roundedUp: Double {
        guard self > 0, isFinite else { return self }
        let scale = pow(10, 2 - floor(log10(self)))
        return (self * scale).rounded(.up) / scale
    }
}
