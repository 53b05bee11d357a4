import Foundation

/// What a browser brings back from signing in.
enum WebCallback {
    /// The token in the address to which the sign-in page has sent the browser, or in what a user has pasted.
    ///
    /// The token is in the query or the fragment, as `ckWebAuthToken` or `ckSession`; a text that is no address is taken
    /// for the token itself.
    ///
    /// - Parameter text: The address, or the token.
    /// - Returns: The token; `nil` if there is none.
    static func token(in text: String) -> String? {
        let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !text.isEmpty else { return nil }
        for start in ["?", "#"] {
            guard let index = text.firstIndex(of: Character(start)) else { continue }
            for item in text[text.index(after: index)...].split(whereSeparator: { "&?#".contains($0) }) {
                let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard parts.count == 2, ["ckWebAuthToken", "ckSession"].contains(String(parts[0])) else {
                    continue
                }
                return repaired(parts[1].removingPercentEncoding ?? String(parts[1]))
            }
        }
        return text.contains("://") ? nil : repaired(text)
    }

    /// A plus sign that was not encoded is a space where a form was decoded; tokens are base64 and have no spaces.
    private static func repaired(_ token: String) -> String? {
        let token = token.replacingOccurrences(of: " ", with: "+")
        let isPlain = token.utf8.allSatisfy { 0x21...0x7E ~= $0 }
        return token.isEmpty || token.utf8.count > 4096 || !isPlain ? nil : token
    }
}
