import RecordCoding

import struct Foundation.Date

/// A record's row with nothing but the cloud's version, which this app can read.
///
/// It is read without a copy, in the one form in which ``JournalLine`` writes it. Any other row, also one with an
/// escaped character, is parsed.
struct SettledRow {
    let zone: ZoneNumber
    let name: Range<Int>
    let type: Range<Int>
    private let tag: Range<Int>
    let handle: ContentHandle
    private let hash: UInt64
    let modified: Date?
    private let size: Int
    private let listing: UInt64
    /// The latest change, if there was one, which all streams have told.
    private let news: RecordNews?
    /// Where the snapshot has the contents; `nil` in a journal.
    let place: JournalLine.Place?

    /// Reads a line; `nil` if it is another one.
    ///
    /// - Parameters:
    ///   - line: The line.
    ///   - accepted: The number up to which streams have told all changes; `nil` if the row was settled before.
    init?(_ line: UnsafeRawBufferPointer, accepted: UInt64? = nil) {
        var cursor = MarkCursor(line)
        guard cursor.skip("{\"zone\":"), let zone = cursor.number(), zone > 0, zone < ZoneNumber.limit,
            cursor.skip(",\"name\":"), let name = cursor.plainString(),
            cursor.skip(",\"record\":{\"type\":"), let type = cursor.plainString(),
            cursor.skip(",\"known\":{\"tag\":"), let tag = cursor.plainString(),
            cursor.skip(",\"handle\":"), let handle = cursor.number(), handle < JSONReader.counterLimit,
            cursor.skip(",\"hash\":"), let hash = cursor.number()
        else { return nil }
        var modified: Date?
        if cursor.skip(",\"modified\":") {
            guard let date = cursor.number().flatMap(Int64.init(exactly:)) else { return nil }
            modified = Date(milliseconds: RecordJSON.nearestStorable(date))
        }
        var size = 0
        if cursor.skip(",\"size\":") {
            guard let number = cursor.number().flatMap(Int.init(exactly:)) else { return nil }
            size = number
        }
        var news: RecordNews?
        let isSaved = cursor.skip("},\"saved\":")
        if isSaved || cursor.skip("},\"news\":") {
            guard let number = cursor.number(), number <= accepted ?? .max else { return nil }
            news = RecordNews(number, isSaved: isSaved)
        }
        guard news != nil || cursor.skip("}"), cursor.skip(",\"listing\":"), let listing = cursor.number(),
            listing < JSONReader.counterLimit, cursor.skip("}")
        else { return nil }
        if cursor.skip(",\"places\":[[") {
            guard cursor.number() == handle, cursor.skip(","),
                let offset = cursor.number(), offset < JSONReader.counterLimit, cursor.skip(","),
                let length = cursor.number(), length <= LogMarks.maximumLine, cursor.skip("]]")
            else { return nil }
            place = JournalLine.Place(handle: ContentHandle(handle), offset: offset, length: UInt32(length))
        } else {
            place = nil
        }
        guard cursor.skip("}"), cursor.offset == line.count else { return nil }
        self.zone = ZoneNumber(UInt32(zone))
        (self.name, self.type, self.tag) = (name, type, tag)
        (self.hash, self.modified, self.size, self.listing) = (hash, modified, size, listing)
        self.news = news
        self.handle = ContentHandle(handle)
    }

    /// The version, given the line.
    func version(_ line: UnsafeRawBufferPointer) -> KnownVersion {
        KnownVersion(
            changeTag: String(decoding: line[tag], as: UTF8.self),
            handle: handle,
            hash: hash,
            modified: modified,
            size: size
        )
    }

    /// The record, given the line and its type's number.
    func record(_ line: UnsafeRawBufferPointer, _ type: RecordTypeNumber) -> RecordState {
        var record = RecordState()
        record.server = .known(version(line))
        record.listing = listing
        record.news = news
        record.type = type
        return record
    }
}

extension MarkCursor {
    /// Reads a JSON string without escaped characters, and returns the range between the quotation marks.
    mutating func plainString() -> Range<Int>? {
        guard skip("\"") else { return nil }
        let start = offset
        guard let end = skipTo(UInt8(ascii: "\"")) else { return nil }
        let text = UnsafeRawBufferPointer(rebasing: line[start..<end])
        var bits: UInt8 = 0
        for byte in text {
            if byte == UInt8(ascii: "\\") || byte < 0x20 { return nil }
            bits |= byte
        }
        if bits < 0x80 || String(decoding: text, as: UTF8.self).utf8.elementsEqual(text) {
            return start..<end
        }
        return nil
    }
}
