public import struct Foundation.Data
public import struct Foundation.Date

/// The value of one field: exactly the kinds that CloudKit's servers store.
///
/// `null` is what a save says to clear a field; a record that comes from a database has no nulls, since
/// CloudKit cannot tell a cleared field from one that was never set.
public enum RecordValue: Hashable, Sendable {
    /// A string of any length; its Unicode form is kept as it is.
    case string(String)
    /// A whole number; Booleans are 0 and 1.
    case int64(Int64)
    /// A finite number.
    case double(Double)
    /// An instant, to the millisecond.
    case date(Date)
    /// Raw bytes, also the JSON of whatever has no kind of its own.
    case bytes(Data)
    /// A pointer to another record.
    case reference(RecordReference)
    /// A place on the earth.
    indirect case location(RecordLocation)
    /// A file.
    indirect case asset(RecordAsset)
    /// Values of one kind, in order; never a list of lists, never with a null.
    case list([RecordValue])
    /// No value: clears the field when it is saved.
    case null
}
