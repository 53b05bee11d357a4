import Foundation

@testable import CodableSync

/// A directory of a test's own, to be removed when the test ends.
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
