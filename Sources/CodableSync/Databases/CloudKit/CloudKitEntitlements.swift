#if canImport(CloudKit)
    import Foundation

    /// The entitlements that CloudKit requires when it creates a container; without them it ends the process.
    struct CloudKitEntitlements {
        /// The iCloud services.
        let services: [String]
        /// The identifiers of the containers, the first of which is the default one.
        let containers: [String]
        /// Whether requests go to the containers' production environment; without an entry, to that of development.
        let isProduction: Bool

        /// Whether the process may create a container.
        var allowsCloudKit: Bool {
            services.contains { ["CloudKit", "CloudKit-Anonymous"].contains($0) }
        }
    }

    // All of Apple's systems have the module, but only a Mac has these functions.
    #if canImport(Security) && (os(macOS) || targetEnvironment(macCatalyst) || !canImport(Darwin))
        import Security

        extension CloudKitEntitlements {
            /// This process's entitlements; `nil` if they can't be read.
            static var current: CloudKitEntitlements? {
                guard let task = SecTaskCreateFromSelf(nil),
                    let services = names("com.apple.developer.icloud-services" as CFString, of: task),
                    let containers = names(
                        "com.apple.developer.icloud-container-identifiers" as CFString,
                        of: task
                    )
                else { return nil }
                return CloudKitEntitlements(
                    services: services,
                    containers: containers,
                    isProduction: environment(of: task) == "Production"
                )
            }

            /// The environment that the app was signed for, if its signature names one.
            private static func environment(of task: SecTask) -> String? {
                let entitlement = "com.apple.developer.icloud-container-environment" as CFString
                return SecTaskCopyValueForEntitlement(task, entitlement, nil) as? String
            }

            /// The names in an entitlement, none if the process does not have it; `nil` if it can't be read.
            private static func names(_ entitlement: CFString, of task: SecTask) -> [String]? {
                var error: Unmanaged<CFError>?
                let value = SecTaskCopyValueForEntitlement(task, entitlement, &error)
                if let error {
                    error.release()
                    return nil
                }
                return value as? [String] ?? []
            }
        }
    #else
        extension CloudKitEntitlements {
            /// This process's entitlements: `nil`, since this system has no function that reads them.
            static var current: CloudKitEntitlements? { nil }
        }
    #endif
#endif
