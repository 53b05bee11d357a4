/// What the coders need to know about a model's type.
final class ModelFacts: Sendable {
    private static let table = TypeTable<ModelFacts>()

    /// The facts about a type, computed once.
    static func of(_ type: Any.Type) -> ModelFacts { table.value(of: type) { ModelFacts(type) } }

    /// The name of the type.
    let name: String
    /// The type, if it has record names.
    let model: (any RecordCodable.Type)?
    /// The type, if it stores system fields.
    let storing: (any SystemFieldsStoring.Type)?
    /// The type, if it has defaults for missing fields.
    let defaulting: (any FieldDefaulting.Type)?
    /// The order of the fields; empty if no value was encoded yet.
    let order: FieldOrder

    private init(_ type: Any.Type) {
        name = String(describing: type)
        model = type as? any RecordCodable.Type
        storing = type as? any SystemFieldsStoring.Type
        defaulting = type as? any FieldDefaulting.Type
        order = FieldOrder.unknown
    }

    private init(_ facts: ModelFacts, _ order: FieldOrder) {
        name = facts.name
        model = facts.model
        storing = facts.storing
        defaulting = facts.defaulting
        self.order = order
    }

    /// Keeps the order of the fields of a type's first value.
    static func keep(_ order: FieldOrder, of type: Any.Type) {
        table.update(of: type) { facts in
            if let facts, facts.order.names.isEmpty { return ModelFacts(facts, order) }
            return facts
        }
    }
}
