public import struct Foundation.Data
public import struct Foundation.Date

/// The value of a field, of one of the kinds that CloudKit's servers store.
///
/// A save uses `null` to clear a field. A record from a database has no nulls, since CloudKit does not
/// distinguish a cleared field from one that was never set.
public enum RecordValue: Hashable, Sendable {
    /// A string of any length, whose Unicode form does not change.
    case string(String)
    /// A whole number; Booleans are 0 and 1.
    case int64(Int64)
    /// A finite number.
    case double(Double)
    /// An instant, to the millisecond.
    case date(Date)
    /// Raw bytes, or the JSON of a value that has no kind of its own.
    case bytes(Data)
    /// A reference to another record.
    indirect case reference(RecordReference)
    /// A location on the earth.
    indirect case location(RecordLocation)
    /// A file.
    indirect case asset(RecordAsset)
    /// Values of one kind in order, without lists and nulls.
    case list([RecordValue])
    /// No value; it clears the field when it is saved.
    case null
}
