#if canImport(CloudKit)
    import Foundation

    #if canImport(Security) && !os(iOS) && !os(tvOS) && !os(watchOS) && !os(visionOS)
        import Security
    #endif

    /// The entitlements that CloudKit requires when it creates a container; without them it ends the process.
    struct CloudKitEntitlements {
        /// The iCloud services.
        let services: [String]
        /// The identifiers of the containers, the first of which is the default one.
        let containers: [String]

        /// Whether the process may create a container.
        var allowsCloudKit: Bool {
            services.contains { ["CloudKit", "CloudKit-Anonymous"].contains($0) }
        }

        #if canImport(Security) && !os(iOS) && !os(tvOS) && !os(watchOS) && !os(visionOS)
            /// This process's entitlements; `nil` if they can't be read.
            static var current: CloudKitEntitlements? {
                guard let task = SecTaskCreateFromSelf(nil) else { return nil }
                func names(_ entitlement: CFString) -> [String] {
                    SecTaskCopyValueForEntitlement(task, entitlement, nil) as? [String] ?? []
                }
                return CloudKitEntitlements(
                    services: names("com.apple.developer.icloud-services" as CFString),
                    containers: names("com.apple.developer.icloud-container-identifiers" as CFString)
                )
            }
        #else
            /// This process's entitlements: `nil`, since only a Mac has a function that reads them.
            static var current: CloudKitEntitlements? { nil }
        #endif
    }
#endif
