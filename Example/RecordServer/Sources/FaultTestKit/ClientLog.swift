import Foundation

/// One call of a client that changes models.
public enum ClientCall: Equatable, Sendable {
    /// Writes the client's number of a shared record.
    case set(record: String, number: Int)
    /// Adds an element to the list of a shared record.
    case add(record: String, element: String)
    /// Creates a record of the client's own.
    case create(record: String)
    /// Deletes a record of the client's own.
    case delete(record: String)

    /// The call as words of a line.
    public var text: String {
        switch self {
        case .set(let record, let number): "set \(record) \(number)"
        case .add(let record, let element): "add \(record) \(element)"
        case .create(let record): "create \(record)"
        case .delete(let record): "delete \(record)"
        }
    }

    /// Reads the words of a line; `nil` if they are no call.
    ///
    /// - Parameter words: The words.
    public init?(_ words: [Substring]) {
        switch (words.first, words.count) {
        case ("set", 3):
            guard let number = Int(words[2]) else { return nil }
            self = .set(record: String(words[1]), number: number)
        case ("add", 3): self = .add(record: String(words[1]), element: String(words[2]))
        case ("create", 2): self = .create(record: String(words[1]))
        case ("delete", 2): self = .delete(record: String(words[1]))
        default: return nil
        }
    }
}

/// What a client has called, and what of it was acknowledged: a file with a line before each call and one behind it.
///
/// A line has the milliseconds since 1970, `try` with a number and the call, or `done` or `failed` with the number.
public struct ClientLog: Sendable {
    /// One call, and what came of it.
    public struct Attempt: Equatable, Sendable {
        /// When it began, in milliseconds since 1970.
        public var began: Int
        /// The call.
        public var call: ClientCall
        /// When it was acknowledged; `nil` if it was cut off, so that it may have been done.
        public var done: Int?
        /// Why it has thrown an error.
        public var failure: String?
    }

    /// The calls, in order.
    public private(set) var attempts: [Attempt] = []

    /// Reads a log, whose last line a kill may have cut.
    ///
    /// - Parameter text: The file's text.
    public init(_ text: String) {
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count > 2, let time = Int(words[0]), let number = Int(words[2]) else { continue }
            switch words[1] {
            case "try":
                if let call = ClientCall(Array(words.dropFirst(3))), number == attempts.count {
                    attempts.append(Attempt(began: time, call: call))
                }
            case "done": if attempts.indices.contains(number) { attempts[number].done = time }
            case "failed":
                if attempts.indices.contains(number) {
                    attempts[number].failure = words.dropFirst(3).joined(separator: " ")
                }
            default: continue
            }
        }
    }

    /// The numbers that were written to a record, and the last that was acknowledged.
    func numbers(of record: String) -> (tried: Set<Int>, last: Int) {
        var (tried, last): (Set<Int>, Int) = ([], 0)
        for attempt in attempts {
            guard case .set(record, let number) = attempt.call else { continue }
            tried.insert(number)
            if attempt.done != nil { last = max(last, number) }
        }
        return (tried, last)
    }

    /// How many changes of shared records were acknowledged by then.
    func progress(until time: Int) -> Int {
        var (numbers, elements): ([String: Int], Int) = ([:], 0)
        for attempt in attempts {
            guard let done = attempt.done, done <= time else { continue }
            switch attempt.call {
            case .set(let record, let number): numbers[record] = max(numbers[record] ?? 0, number)
            case .add: elements += 1
            case .create, .delete: continue
            }
        }
        return numbers.values.reduce(elements, +)
    }
}

/// Writes a client's log, and goes on with that of the process before.
final class ClientLogFile {
    private let file: FileHandle
    private(set) var log: ClientLog
    private var count: Int

    init(_ url: URL) throws {
        if !FileManager.default.fileExists(atPath: url.path) { try Data().write(to: url) }
        file = try FileHandle(forUpdating: url)
        let text = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
        log = ClientLog(text)
        count = log.attempts.count
        // A kill may have cut the last line, and with it a call that had not begun.
        if !text.isEmpty, !text.hasSuffix("\n") { try write("") }
    }

    /// Notes a call before it is made, makes it, and notes how it ended.
    func run(_ call: ClientCall, _ work: () async throws -> Void) async throws {
        let number = count
        count += 1
        try write("\(Self.now) try \(number) \(call.text)")
        do {
            try await work()
        } catch {
            try write("\(Self.now) failed \(number) \(error)".replacingOccurrences(of: "\n", with: " "))
            return
        }
        try write("\(Self.now) done \(number)")
    }

    private func write(_ line: String) throws { try file.write(contentsOf: Data((line + "\n").utf8)) }

    /// Milliseconds since 1970.
    static var now: Int { Int(Date().timeIntervalSince1970 * 1000) }
}
