// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    // On Linux, where the project is built and tested, a warning is an error. SwiftPM leaves this setting out for an
    // app that depends on the package by its URL.
    .treatAllWarnings(as: .error, .when(platforms: [.linux])),
]

let package = Package(
    name: "CodableSync",
    platforms: [.iOS(.v17), .macOS(.v14), .tvOS(.v17), .watchOS(.v10), .visionOS(.v1)],
    products: [
        .library(name: "CodableSync", targets: ["CodableSync"]),
        .library(name: "RecordCoding", targets: ["RecordCoding"]),
    ],
    targets: [
        .target(name: "RecordCoding", swiftSettings: settings),
        .target(
            name: "CodableSync",
            dependencies: ["RecordCoding"],
            resources: [.copy("PrivacyInfo.xcprivacy")],
            // A call takes its place in the queue before it leaves its caller's actor.
            swiftSettings: settings + [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]
        ),
        .testTarget(name: "RecordCodingTests", dependencies: ["RecordCoding"], swiftSettings: settings),
        .testTarget(
            name: "CodableSyncTests",
            dependencies: ["CodableSync", "SecondProcess"],
            swiftSettings: settings
        ),
        // What the tests run beside themselves, to lock, to write and to be killed.
        .executableTarget(
            name: "SecondProcess",
            dependencies: ["CodableSync"],
            path: "Tests/SecondProcess",
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6]
)
