// swift-tools-version: 6.2
import PackageDescription

// Builds the libraries of the root package with modules named like Apple's frameworks, so that `canImport(CloudKit)` is
// true on systems without CloudKit. It is a package of its own since a module of that name would switch the adapter on
// in every target of the same package. No platform has UIKit, AppKit and WatchKit: here all are there at once, which
// compiles each file that needs one of them.

let frameworks = ["AppKit", "BackgroundTasks", "CoreLocation", "Network", "Security", "UIKit", "WatchKit"]

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error, .when(platforms: [.linux])),
]

let package = Package(
    name: "CloudKitStandIn",
    targets: frameworks.map { .target(name: $0, swiftSettings: settings) } + [
        .target(name: "CloudKit", dependencies: ["CoreLocation", "Security"], swiftSettings: settings),
        .target(name: "RecordCoding", swiftSettings: settings),
        .target(
            name: "CodableSync",
            dependencies: ["RecordCoding", "CloudKit"] + frameworks.map { .target(name: $0) },
            exclude: ["PrivacyInfo.xcprivacy"],
            swiftSettings: settings + [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]
        ),
        .testTarget(
            name: "CloudKitTests",
            dependencies: ["CodableSync", "CloudKit"] + frameworks.map { .target(name: $0) },
            exclude: ["Contract/LedgerBackedDatabaseTests.swift"],
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6]
)
