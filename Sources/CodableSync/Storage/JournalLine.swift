import RecordCoding

/// The lines of the journal: rows, and the contents that they name.
///
/// `{"zone":1,"name":"Q90","record":{"type":"Place","pending":{"save":17,"size":450}}}`
///
/// In a journal, contents follow the rows of their group. In a snapshot, they stand behind all groups, and a row says
/// where, so that an opening reads rows only: `"places":[[17,20480,450]]` has a handle, the offset behind the last
/// group, and the length.
enum JournalLine {
    /// Where a snapshot has contents.
    struct Place: Equatable {
        var handle: ContentHandle
        /// The offset behind the last group.
        var offset: UInt64
        /// The length of the line, without its newline.
        var length: UInt32
    }

    /// Creates a line.
    ///
    /// - Parameters:
    ///   - row: The row.
    ///   - places: Where the snapshot has the contents that the row names.
    ///   - lastHandle: The highest handle in use; `nil` if earlier lines show it.
    /// - Returns: The line, without its newline.
    static func make(_ row: StateRow, places: [Place] = [], lastHandle: UInt64? = nil) -> [UInt8] {
        var json = JSONWriter(reserving: 512)
        json.beginObject()
        write(row, to: &json)
        if let lastHandle {
            json.key("lastHandle")
            json.uint(lastHandle)
        }
        if !places.isEmpty {
            json.key("places")
            json.array(places) { json, place in
                json.beginArray()
                json.handle(place.handle)
                json.uint(place.offset)
                json.uint(UInt64(place.length))
                json.endArray()
            }
        }
        json.endObject()
        return json.bytes
    }
}
