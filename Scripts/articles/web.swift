// What an app has besides the lines that the pages on web services show.

import CodableSync
import Foundation
import RecordCoding

struct Note: RecordCodable, Identifiable, Sendable {
    var id: String
    static func resolveConflict(_ conflict: Conflict<Self>) throws -> Self? { conflict.client }
}

struct Landmark: RecordCodable, Identifiable, Sendable {
    var id: String
    static func resolveConflict(_ conflict: Conflict<Self>) throws -> Self? { conflict.client }
}

let token = ""
let apiToken = ""

func askUser(_ url: URL) async throws -> String { "" }
