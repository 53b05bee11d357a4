/// What the coders need to know of a model's type.
struct ModelFacts: Sendable {
    static let table = TypeTable { ModelFacts($0) }

    /// The name of the type.
    let name: String
    /// The type, if it has record names.
    let model: (any RecordCodable.Type)?
    /// The type, if it stores system fields.
    let storing: (any SystemFieldsStoring.Type)?

    private init(_ type: Any.Type) {
        name = String(describing: type)
        model = type as? any RecordCodable.Type
        storing = type as? any SystemFieldsStoring.Type
    }
}
