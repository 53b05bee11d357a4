import XCTest

/// The articles show exactly the code that runs here.
final class ArticleTests: XCTestCase {
    func testTheTestingArticleShowsTheseTests() throws {
        let files = ["Note.swift", "NoteSyncTests.swift"]
        try assertShown(files, in: "Sources/CodableSync/CodableSync.docc/TestingYourApp.md", atLeast: 17)
    }

    func testTheAppArticleShowsThisStore() throws {
        let files = ["Note.swift", "NoteStore.swift"]
        try assertShown(files, in: "Sources/CodableSync/CodableSync.docc/InYourApp.md", atLeast: 7)
    }

    func testTheArticleOnChangingModelsShowsTheseTests() throws {
        let files = ["Trip.swift", "TripVersionTests.swift"]
        try assertShown(files, in: "Sources/CodableSync/CodableSync.docc/ChangingYourModels.md", atLeast: 22)
    }

    func testThePageForUsersOfOtherLibrariesShowsTheseTests() throws {
        let files = ["FromCirrus", "FromCirrusApp", "FromMist", "FromEngines", "FromStores"]
        try assertShown(
            files.map { "../ComingFromTests/\($0)Tests.swift" },
            in: "Documentation/ComingFrom.md",
            atLeast: 17
        )
    }
}
