import Foundation
import XCTest

/// The articles show exactly the code that runs here.
final class ArticleTests: XCTestCase {
    func testTheTestingArticleShowsTheseTests() throws {
        try assertShown(["Note.swift", "NoteSyncTests.swift"], in: "TestingYourApp.md", atLeast: 17)
    }

    func testTheAppArticleShowsThisStore() throws {
        try assertShown(["Note.swift", "NoteStore.swift"], in: "InYourApp.md", atLeast: 7)
    }

    func testTheArticleOnChangingModelsShowsTheseTests() throws {
        try assertShown(["Trip.swift", "TripVersionTests.swift"], in: "ChangingYourModels.md", atLeast: 22)
    }
}
