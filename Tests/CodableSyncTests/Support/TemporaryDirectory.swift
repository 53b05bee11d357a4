import Foundation

@testable import CodableSync

/// A temporary directory for one test, which removes it at its end.
struct TemporaryDirectory {
    let url: URL
    var path: String { url.path(percentEncoded: false).withoutTrailingSlash }

    init() throws {
        url = FileManager.default.temporaryDirectory
            .appending(path: "CodableSyncTests-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    func remove() throws {
        try FileManager.default.removeItem(at: url)
    }
}
