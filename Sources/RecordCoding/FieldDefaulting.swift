/// A model with default values for required fields that are missing in a record.
///
/// When a new version of an app adds a property, existing records have no field for it. An optional property
/// is then `nil`. If the property is required, these records can be decoded only if the model conforms to
/// this protocol:
///
/// ```swift
/// extension Landmark: FieldDefaulting {
///     static let fieldDefaults = Landmark(id: UUID(), name: "", rating: 3)
/// }
/// ```
///
/// A default applies to a required property of the model itself, not of a nested value, if the field is
/// missing or null. Some properties need no default: an optional is `nil`, a list is empty, and a type that
/// can be decoded from null is, for example a property wrapper around an optional.
///
/// A default isn't an edit: decoding a record sends nothing, and in a conflict, another device's value wins
/// over it. The next edit of the record sends the model with its defaults.
public protocol FieldDefaulting: RecordCodable {
    /// A model whose values stand in for missing fields.
    ///
    /// It must be a constant, since devices show and merge its values as if the records had them. It is
    /// encoded at most once in a process, when the first field is missing. Properties that every record has,
    /// such as an ID, can have any value.
    static var fieldDefaults: Self { get }
}
