import Foundation

/// One piece of work that can be repeated, to be timed or counted.
///
/// Its name has three parts, as in `landmark/encode/JSON`: what is worked on, what is done, and by whom.
/// Works that differ in the last part only are compared.
package struct Work {
    /// What is worked on.
    package let subject: String
    /// What is done.
    package let action: String
    /// By whom.
    package let contender: Contender
    /// Whether one repetition takes so long that it needs no others around it to be timed.
    package let isLong: Bool

    private let body: (Int) throws -> Void

    /// Makes a work out of one repetition.
    ///
    /// - Parameters:
    ///   - subject: What is worked on.
    ///   - action: What is done.
    ///   - contender: By whom.
    ///   - isLong: Whether one repetition takes longer than about 100 microseconds.
    ///   - body: One repetition; what it returns is used, so that the optimizer leaves the work in.
    package init<Result>(
        _ subject: String,
        _ action: String,
        by contender: Contender,
        isLong: Bool = false,
        _ body: @escaping () throws -> Result
    ) {
        self.init(
            subject,
            action,
            by: contender,
            isLong: isLong,
            repeating: { count in
                for _ in 0..<count { use(try body()) }
            }
        )
    }

    /// Makes a work that repeats itself, for example in one transaction.
    ///
    /// - Parameters:
    ///   - subject: What is worked on.
    ///   - action: What is done.
    ///   - contender: By whom.
    ///   - isLong: Whether one repetition takes longer than about 100 microseconds.
    ///   - body: Does the work as many times as it is told.
    package init(
        _ subject: String,
        _ action: String,
        by contender: Contender,
        isLong: Bool = false,
        repeating body: @escaping (Int) throws -> Void
    ) {
        self.subject = subject
        self.action = action
        self.contender = contender
        self.isLong = isLong
        self.body = body
    }

    /// The three parts, with slashes.
    package var name: String { "\(subject)/\(action)/\(contender.name)" }

    /// Does the work.
    ///
    /// - Parameter count: How many times.
    /// - Throws: What the work throws.
    package func perform(_ count: Int) throws { try body(count) }
}

/// Who does a work; the name stands in results.
package struct Contender: Sendable {
    /// The name.
    package let name: String

    /// Names a contender.
    ///
    /// - Parameter name: The name.
    package init(_ name: String) { self.name = name }

    /// This package.
    package static let codableSync = Contender("CodableSync")
    /// Foundation's `JSONEncoder` and `JSONDecoder`.
    package static let json = Contender("JSON")
    /// Foundation's `PropertyListEncoder` and `PropertyListDecoder`, in the binary form.
    package static let propertyList = Contender("PropertyList")
    /// Code without `Codable`, written for this one model.
    package static let byHand = Contender("by-hand")
}

/// Whether results are printed: `PRINT_RESULTS=1` in the environment shows what the works make.
private let printsResults = ProcessInfo.processInfo.environment["PRINT_RESULTS"] != nil

/// Uses a value: it may be printed, so the optimizer has to leave in what makes it.
@inline(never)
private func use<Value>(_ value: Value) {
    if printsResults { print(value) }
}
