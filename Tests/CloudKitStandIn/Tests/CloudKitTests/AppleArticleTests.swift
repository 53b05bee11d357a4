import XCTest

/// The article shows exactly the delegates that run here.
final class AppleArticleTests: XCTestCase {
    func testTheArticleOnApplePlatformsShowsTheseDelegates() throws {
        try assertShown(
            ["NotesApp.swift"],
            in: "Sources/CodableSync/CodableSync.docc/ApplePlatforms.md",
            atLeast: 4
        )
    }
}
