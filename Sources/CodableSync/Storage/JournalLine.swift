import RecordCoding

import struct Foundation.Date

/// The lines of the journal, with one row or fact each: the zone and the record's name come first, and new contents
/// last.
///
/// `{"zone":1,"name":"Q90","record":{"type":"Place","pending":{"save":17,"size":450}},"contents":[[17,{…}]]}`
///
/// A row of contents has a handle, a record, and the names of its encrypted fields if it has any.
enum JournalLine {
    /// The place of a handle's contents in a line.
    typealias Place = (handle: ContentHandle, range: Range<Int>)

    /// Creates a line with the contents that it introduces.
    ///
    /// - Parameters:
    ///   - line: The row or fact.
    ///   - contents: The handles, and closures that write their contents.
    ///   - lastHandle: The highest handle in use; `nil` if earlier lines show it.
    /// - Returns: The line, and the places of the contents in it.
    static func make(
        _ line: StateLine,
        contents: [(handle: ContentHandle, write: (inout JSONWriter) -> Void)] = [],
        lastHandle: UInt64? = nil
    ) -> (bytes: [UInt8], places: [Place]) {
        var json = JSONWriter(reserving: 512)
        var places: [Place] = []
        json.beginObject()
        write(line, to: &json)
        if let lastHandle {
            json.key("lastHandle")
            json.uint(lastHandle)
        }
        if !contents.isEmpty {
            json.key("contents")
            json.beginArray()
            for (handle, write) in contents {
                json.beginArray()
                json.handle(handle)
                // One byte further, because of the comma before the contents.
                let start = json.bytes.count + 1
                write(&json)
                places.append((handle, start..<json.bytes.count))
                json.endArray()
            }
            json.endArray()
        }
        json.endObject()
        return (json.bytes, places)
    }
}
