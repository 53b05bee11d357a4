// .package(url: "a comment")
let package = Package(
    name: "CodableSync",
    dependencies: [
        .package(url: "https://example.com/other", from: "1.0.0")  // PLANTED dependencies
    ]
)
