// swift-tools-version: 6.2
import PackageDescription

// The works that a tool counts the instructions of, and what the scripts do with the results. It is a package of its
// own since those of the benchmarks' dependencies take minutes to build, and this one needs none.

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error, .when(platforms: [.linux])),
]

let package = Package(
    name: "Counts",
    platforms: [.macOS(.v14)],
    dependencies: [.package(name: "CodableSync", path: "../CodableSync")],
    targets: [
        // Models, and what is done with them.
        .target(
            name: "CodingWork",
            dependencies: [.product(name: "RecordCoding", package: "CodableSync")],
            swiftSettings: settings
        ),
        // The same works, each a fixed number of times, for a tool that counts instructions.
        .executableTarget(name: "FixedWork", dependencies: ["CodingWork"], swiftSettings: settings),
        // What the scripts do with results: limits, tables, plots.
        .target(name: "Measurements", swiftSettings: settings),
        .executableTarget(name: "performance", dependencies: ["Measurements"], swiftSettings: settings),
        .testTarget(name: "CodingWorkTests", dependencies: ["CodingWork"], swiftSettings: settings),
        .testTarget(name: "MeasurementsTests", dependencies: ["Measurements"], swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
