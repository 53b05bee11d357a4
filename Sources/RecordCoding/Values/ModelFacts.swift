/// What the coders need to know of a model's type.
struct ModelFacts: Sendable {
    private static let table = TypeTable<ModelFacts>()

    /// What is known of a type, found out once.
    static func of(_ type: Any.Type) -> ModelFacts { table.value(of: type) { ModelFacts(type) } }

    /// The name of the type.
    let name: String
    /// The type, if it has record names.
    let model: (any RecordCodable.Type)?
    /// The type, if it stores system fields.
    let storing: (any SystemFieldsStoring.Type)?
    /// The type, if it has defaults for missing fields.
    let defaulting: (any FieldDefaulting.Type)?

    private init(_ type: Any.Type) {
        name = String(describing: type)
        model = type as? any RecordCodable.Type
        storing = type as? any SystemFieldsStoring.Type
        defaulting = type as? any FieldDefaulting.Type
    }
}
