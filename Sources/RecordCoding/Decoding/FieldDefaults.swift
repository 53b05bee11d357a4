/// The fields of the models that stand in for missing fields; see ``FieldDefaulting``.
enum FieldDefaults {
    private static let table = TypeTable<Result<[String: RecordValue], Unusable>>()
    /// The models whose defaults are being made, since making them may decode a record.
    @TaskLocal private static var beingMade: [ObjectIdentifier] = []

    /// Why the defaults of a model cannot be used.
    struct Unusable: Error {
        var reason: String
    }

    /// All default values of a model.
    static func fields(of model: any FieldDefaulting.Type) throws(Unusable) -> [String: RecordValue] {
        let id = ObjectIdentifier(model)
        if beingMade.contains(id) {
            throw Unusable(reason: "making them decodes a record without it")
        }
        return try table.value(of: model) {
            $beingMade.withValue(beingMade + [id]) { encoded(model) }
        }.get()
    }

    private static func encoded<Model: FieldDefaulting>(
        _ model: Model.Type
    ) -> Result<[String: RecordValue], Unusable> {
        do {
            return .success(try FieldEncoder.fields(of: Model.fieldDefaults))
        } catch EncodingError.invalidValue(_, let context) {
            return .failure(Unusable(reason: context.debugDescription))
        } catch {
            return .failure(Unusable(reason: "\(error)".abbreviated))
        }
    }
}
