// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error, .when(platforms: [.linux])),
]

let package = Package(
    name: "Example",
    platforms: [.macOS(.v14)],
    products: [
        .executable(name: "landmarks", targets: ["LandmarksCommand"]),
        .library(name: "LandmarkModel", targets: ["LandmarkModel"]),
    ],
    dependencies: [
        // A link to the package above: its own path would give it the name of the folder it was cloned into, which
        // may be that of this package.
        .package(name: "CodableSync", path: "CodableSync"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    ],
    targets: [
        .target(
            name: "LandmarkModel",
            dependencies: [.product(name: "RecordCoding", package: "CodableSync")],
            swiftSettings: settings
        ),
        // What tests of an app, and the demo, put in front of a database.
        .target(
            name: "TestSupport",
            dependencies: [.product(name: "CodableSync", package: "CodableSync")],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "LandmarksCommand",
            dependencies: [
                "LandmarkModel",
                "TestSupport",
                .product(name: "CodableSync", package: "CodableSync"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            resources: [.embedInCode("Resources/landmarks.geojson")],
            swiftSettings: settings
        ),
        // Tests name every module that they import: otherwise a change in one of them doesn't rebuild them.
        .testTarget(
            name: "LandmarkModelTests",
            dependencies: ["LandmarkModel", .product(name: "RecordCoding", package: "CodableSync")],
            swiftSettings: settings
        ),
        .testTarget(
            name: "LandmarksCommandTests",
            dependencies: [
                "LandmarksCommand",
                "LandmarkModel",
                .product(name: "CodableSync", package: "CodableSync"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "TestingYourAppTests",
            dependencies: [.product(name: "CodableSync", package: "CodableSync")],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ComingFromTests",
            dependencies: [.product(name: "CodableSync", package: "CodableSync")],
            swiftSettings: settings
        ),
        .testTarget(
            name: "PortedAppsTests",
            dependencies: [.product(name: "CodableSync", package: "CodableSync")],
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6]
)
