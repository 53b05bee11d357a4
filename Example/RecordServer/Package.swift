// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error, .when(platforms: [.linux])),
]

let package = Package(
    name: "RecordServer",
    platforms: [.macOS(.v14)],
    products: [
        .executable(name: "record-server", targets: ["RecordServer"]),
        .library(name: "RecordServerKit", targets: ["RecordServerKit"]),
        .executable(name: "fault-test", targets: ["FaultTest"]),
    ],
    dependencies: [
        // The link beside the example, so that both build the libraries once in a shared --scratch-path.
        .package(name: "CodableSync", path: "../CodableSync"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-crypto", "3.12.3"..<"5.0.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.90.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.29.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.8.0"),
    ],
    targets: [
        .target(
            name: "RecordServerKit",
            dependencies: [
                .product(name: "CodableSync", package: "CodableSync"),
                .product(name: "RecordCoding", package: "CodableSync"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            // The dashboard's page is a part of the program, so that it needs no files beside it.
            resources: [
                .embedInCode("Pages/dashboard.html"), .embedInCode("Pages/dashboard.css"),
                .embedInCode("Pages/dashboard.js"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "RecordServer",
            dependencies: [
                "RecordServerKit",
                .product(name: "CodableSync", package: "CodableSync"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "FaultTestKit",
            dependencies: [
                .product(name: "CodableSync", package: "CodableSync"),
                .product(name: "RecordCoding", package: "CodableSync"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "FaultTest",
            dependencies: [
                "FaultTestKit", .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "FaultTestTests",
            dependencies: ["FaultTest", "FaultTestKit"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "RecordServerTests",
            dependencies: [
                "FaultTestKit",
                "RecordServer",
                "RecordServerKit",
                .product(name: "CodableSync", package: "CodableSync"),
                .product(name: "RecordCoding", package: "CodableSync"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6]
)
