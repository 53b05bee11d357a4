// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error, .when(platforms: [.linux])),
]

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v14)],
    dependencies: [
        // A link to the package above: its own path would give it the name of the folder it was cloned into.
        .package(name: "CodableSync", path: "CodableSync"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        // Without its traits: they replace the allocator, which changes what is measured.
        .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.0", traits: []),
    ],
    targets: [
        // Models, and what is done with them.
        .target(
            name: "CodingWork",
            dependencies: [.product(name: "RecordCoding", package: "CodableSync")],
            swiftSettings: settings
        ),
        // The models as GRDB's records.
        .target(
            name: "RowModels",
            dependencies: ["CodingWork", .product(name: "GRDB", package: "GRDB.swift")],
            swiftSettings: settings
        ),
        // Times the works, beside GRDB's.
        .executableTarget(
            name: "CodingBenchmarks",
            dependencies: [
                "CodingWork", "RowModels",
                .product(name: "RecordCoding", package: "CodableSync"),
                .product(name: "Benchmark", package: "benchmark"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            path: "Benchmarks/Coding",
            swiftSettings: settings,
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]
        ),
        // Times an engine that reads, writes and syncs, beside GRDB and Foundation's JSON coders.
        .executableTarget(
            name: "EngineBenchmarks",
            dependencies: [
                "CodingWork", "RowModels",
                .product(name: "CodableSync", package: "CodableSync"),
                .product(name: "RecordCoding", package: "CodableSync"),
                .product(name: "Benchmark", package: "benchmark"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            path: "Benchmarks/Engine",
            swiftSettings: settings,
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]
        ),
    ],
    swiftLanguageModes: [.v6]
)
