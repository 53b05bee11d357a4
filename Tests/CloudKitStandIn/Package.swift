// swift-tools-version: 6.2
import PackageDescription

// Builds the libraries of the root package with a module named CloudKit, so that `canImport(CloudKit)` is true on
// systems without CloudKit. It is a package of its own since a module of that name would switch the adapter on in
// every target of the same package.

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "CloudKitStandIn",
    targets: [
        .target(name: "CoreLocation", swiftSettings: settings),
        .target(name: "CloudKit", dependencies: ["CoreLocation"], swiftSettings: settings),
        .target(name: "RecordCoding", swiftSettings: settings),
        .target(
            name: "CodableSync",
            dependencies: ["RecordCoding", "CloudKit", "CoreLocation"],
            swiftSettings: settings + [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]
        ),
        .testTarget(
            name: "CloudKitTests",
            dependencies: ["CodableSync", "CloudKit", "CoreLocation"],
            exclude: [
                "Contract/FakeDatabaseContractTests.swift", "Contract/LedgerBackedDatabaseTests.swift",
            ],
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6]
)
