extension Int {
    /// A count for a message: `1 record`, `2 records`.
    func counted(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}
