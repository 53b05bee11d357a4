/// The fields of a value that was encoded, with what a record needs to know about them.
struct RecordContents {
    let fields: [String: RecordValue]
    /// The sum of their sizes.
    let size: Int
    /// Whether one of them is the record's name.
    let hasName: Bool
}

extension [RecordValue] {
    /// Whether one of the first values is a text, byte for byte.
    func haveText(_ text: String, amongFirst count: Int) -> Bool {
        withUnsafeBufferPointer { values in
            for index in 0..<count {
                if case .string(let string) = values[index], string.isIdentical(to: text) { return true }
            }
            return false
        }
    }
}
