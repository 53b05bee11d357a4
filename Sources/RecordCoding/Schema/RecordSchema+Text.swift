extension RecordSchema {
    /// The text of a schema in CloudKit's schema language, for `xcrun cktool import-schema`.
    ///
    /// An import replaces the container's development schema, so pass all record types of the app. The engine
    /// needs no indexes; those on system fields let CloudKit Console list the records. The permissions are
    /// CloudKit's defaults, and matter in the public database only.
    ///
    /// - Parameter schemas: The record types, each once.
    /// - Returns: The text, which doesn't depend on the order of the types.
    public static func text(for schemas: [RecordSchema]) -> String {
        let types = schemas.sorted { $0.recordType < $1.recordType }.map { schema in
            let fields = schema.fields.sorted { $0.key < $1.key }.map {
                "\(quotedIfReserved($0.key)) \($0.value.text)"
            }
            let lines = (systemFields + fields + permissions).map { "        \($0)" }
            return """
                    RECORD TYPE \(quotedIfReserved(schema.recordType)) (
                \(lines.joined(separator: ",\n"))
                    );

                """
        }
        return "DEFINE SCHEMA\n\n" + types.joined(separator: "\n")
    }

    private static let systemFields = [
        #""___createTime" TIMESTAMP QUERYABLE SORTABLE"#, #""___createdBy" REFERENCE"#,
        #""___etag" STRING"#, #""___modTime" TIMESTAMP QUERYABLE SORTABLE"#,
        #""___modifiedBy" REFERENCE"#, #""___recordID" REFERENCE QUERYABLE"#,
    ]

    private static let permissions = [
        #"GRANT WRITE TO "_creator""#, #"GRANT CREATE TO "_icloud""#, #"GRANT READ TO "_world""#,
    ]

    /// The language's keywords, which are case-insensitive.
    private static let words: Set<String> = [
        "as", "asset", "bytes", "create", "define", "double", "encrypted", "grant", "int64", "list",
        "location",
        "number", "preferred", "queryable", "read", "record", "reference", "role", "schema", "searchable",
        "sortable", "string", "timestamp", "to", "type", "write",
    ]

    private static func quotedIfReserved(_ name: String) -> String {
        words.contains(name.lowercased()) ? "\"\(name)\"" : name
    }
}

extension RecordSchema.Field {
    /// The type in CloudKit's schema language.
    fileprivate var text: String {
        let name =
            switch kind {
            case .string: "STRING"
            case .int64: "INT64"
            case .double: "DOUBLE"
            case .date: "TIMESTAMP"
            case .reference: "REFERENCE"
            case .location: "LOCATION"
            case .asset: "ASSET"
            // A field is neither a null nor a list of lists.
            case .bytes, .list, .null: "BYTES"
            }
        let type = isEncrypted ? "ENCRYPTED \(name)" : name
        return isList ? "LIST<\(type)>" : type
    }
}
