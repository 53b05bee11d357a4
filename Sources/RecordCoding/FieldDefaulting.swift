/// A model that has values for required fields that a record lacks.
///
/// A property that a new version of an app adds is in no record of the older versions. If it is an optional,
/// it begins as `nil`. If it is required, those records can be decoded only if the model conforms to this
/// protocol:
///
/// ```swift
/// extension Landmark: FieldDefaulting {
///     static let fieldDefaults = Landmark(id: UUID(), name: "", rating: 3)
/// }
/// ```
///
/// A default is used only for a key of the model itself, not of a nested value, which the model decodes as
/// required and for which the record has no value, or null. These have values without it: an optional is
/// `nil`, a list is empty, and a type that decodes itself from null does so, for example a property wrapper
/// around an optional.
///
/// A default is no edit: decoding a record sends nothing, and in a conflict, another device's value wins
/// over it. The next edit of the record sends the model with its defaults.
public protocol FieldDefaulting: RecordCodable {
    /// A model whose values stand in for missing fields.
    ///
    /// It must be a constant, since devices show and merge its values as if the records had them. It is
    /// encoded at most once in a process, when the first field is missing. Properties that every record has,
    /// such as an ID, can have any value.
    static var fieldDefaults: Self { get }
}
