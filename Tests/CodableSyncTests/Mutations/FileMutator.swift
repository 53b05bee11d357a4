import Foundation

@testable import CodableSync

/// Changes the contents of a log file and corrects its checksums: a failing disk never does this, but a
/// person might.
struct FileMutator {
    private var random: CodableSync.SplitMix64

    init(seed: UInt64) { random = CodableSync.SplitMix64(seed: seed) }

    mutating func below(_ count: Int) -> Int { Int(random.next() % UInt64(max(1, count))) }

    private static let numbers = [
        "0", "-1", "1", "9223372036854775807", "9223372036854775806", "-9223372036854775808",
        "18446744073709551615", "18446744073709551614", "4611686018427387904", "4611686018427387903",
        "4611686014132420608", "9007199254740993", "9000000000000000", "9000000000000001",
        "-9000000000000001",
        "4294967296", "4294967295", "2147483648", "1073741823", "1073741822", "281474976710656", "1e308",
        "1e999",
        "0.1", "-0", "00", "1.0", "253402300800000", "99999999999999999999999999999999999999",
    ]

    private static let values = [
        "null", "true", "false", "[]", "{}", "\"\"", "\"x\"", "-1", "[[]]", "{\"a\":1}", "\"\\ud800\"",
        "\"\\u0000\"", "\"18446744073709551615\"", "[1,2]", "[[0,18446744073709551615]]",
    ]

    /// The file with one to three changes.
    mutating func mutate(_ bytes: [UInt8]) -> [UInt8] {
        var file = MutableFile(bytes)
        for _ in 0...below(3) {
            if below(12) == 0 {
                file.header = mutated(line: file.header, others: [file.header])
            } else {
                change(&file)
            }
        }
        return file.bytes
    }

    private mutating func change(_ file: inout MutableFile) {
        guard !file.groups.isEmpty else { return }
        let group = below(file.groups.count)
        guard !file.groups[group].isEmpty else { return }
        let line = below(file.groups[group].count)
        switch below(12) {
        case 0: file.groups[group].remove(at: line)
        case 1: file.groups[group].insert(file.groups[group][line], at: line)
        case 2: file.groups[below(file.groups.count)].append(file.groups[group][line])
        case 3: file.groups.swapAt(group, below(file.groups.count))
        default:
            let others = file.groups[below(file.groups.count)]
            file.groups[group][line] = mutated(line: file.groups[group][line], others: others)
        }
    }

    private mutating func mutated(line: [UInt8], others: [[UInt8]]) -> [UInt8] {
        let tokens = Self.tokens(of: line)
        guard !tokens.isEmpty else { return line }
        var line = line
        let numbers = tokens.filter { !$0.isString }
        switch below(8) {
        case 0...3 where !numbers.isEmpty:
            line.replaceSubrange(numbers[below(numbers.count)].range, with: Self.pick(Self.numbers, &self))
        case 4:
            let other = others.isEmpty ? line : others[below(others.count)]
            let theirs = Self.tokens(of: other)
            guard !theirs.isEmpty else { break }
            let taken = other[theirs[below(theirs.count)].range]
            line.replaceSubrange(tokens[below(tokens.count)].range, with: Array(taken))
        case 5:
            let place = below(line.count)
            line[place] = UInt8(truncatingIfNeeded: random.next())
        case 6:
            let token = tokens[below(tokens.count)].range
            line.insert(contentsOf: Array(line[token]) + [UInt8(ascii: ",")], at: token.lowerBound)
        default:
            line.replaceSubrange(tokens[below(tokens.count)].range, with: Self.pick(Self.values, &self))
        }
        // A newline would end the line, and a file has no empty lines.
        line.removeAll { $0 == UInt8(ascii: "\n") }
        return line.isEmpty ? [UInt8(ascii: "0")] : line
    }

    private static func pick(_ texts: [String], _ mutator: inout FileMutator) -> [UInt8] {
        Array(texts[mutator.below(texts.count)].utf8)
    }

    /// The strings (with their quotation marks) and the numbers of a line.
    private static func tokens(of line: [UInt8]) -> [(range: Range<Int>, isString: Bool)] {
        var tokens: [(Range<Int>, Bool)] = []
        var index = 0
        while index < line.count {
            let start = index
            if line[index] == UInt8(ascii: "\"") {
                index += 1
                while index < line.count, line[index] != UInt8(ascii: "\"") {
                    index += line[index] == UInt8(ascii: "\\") ? 2 : 1
                }
                index = min(index + 1, line.count)
                tokens.append((start..<index, true))
            } else if line[index] == UInt8(ascii: "-") || (48...57).contains(line[index]) {
                while index < line.count, "0123456789-+.eE".utf8.contains(line[index]) { index += 1 }
                tokens.append((start..<index, false))
            } else {
                index += 1
            }
        }
        return tokens
    }
}

/// A log file in its parts; its commit marks are rewritten with correct checksums.
private struct MutableFile {
    var header: [UInt8]
    var groups: [[[UInt8]]] = []
    private var isEnded = false

    init(_ bytes: [UInt8]) {
        let lines = bytes.split(separator: UInt8(ascii: "\n")).map { Array($0) }
        header = lines.first ?? []
        var group: [[UInt8]] = []
        for line in lines.dropFirst() {
            if line.starts(with: #"{"commit":"#.utf8) {
                groups.append(group)
                group = []
            } else if line.starts(with: #"{"end":"#.utf8) {
                isEnded = true
            } else {
                group.append(line)
            }
        }
    }

    var bytes: [UInt8] {
        var bytes = headerWithChecksum + [UInt8(ascii: "\n")]
        var count = 0
        for group in groups where !group.isEmpty {
            var checksum = LineChecksum()
            for line in group {
                line.withUnsafeBytes { checksum.absorb($0) }
                bytes += line + [UInt8(ascii: "\n")]
            }
            count += group.count
            let value = checksum.value(count: group.count)
            bytes += LogMarks.commit(LogMarks.Commit(count: group.count, checksum: value, isEnd: false))
        }
        guard isEnded else { return bytes }
        let value = LineChecksum().value(count: count)
        return bytes + LogMarks.commit(LogMarks.Commit(count: count, checksum: value, isEnd: true))
    }

    private var headerWithChecksum: [UInt8] {
        let mark = Array(#","checksum":""#.utf8)
        guard let found = header.firstRange(of: mark) else { return header }
        let start = Array(header[..<found.lowerBound])
        var checksum = LineChecksum()
        start.withUnsafeBytes { checksum.absorb($0) }
        let digits = String(checksum.value(count: 1), radix: 16)
        let padded = String(repeating: "0", count: 16 - digits.count) + digits
        return start + mark + Array("\(padded)\"}".utf8)
    }
}
