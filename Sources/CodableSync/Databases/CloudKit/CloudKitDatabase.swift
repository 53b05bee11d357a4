#if canImport(CloudKit)
    import CloudKit
    import Foundation

    /// A database of an app's iCloud container.
    ///
    /// ```swift
    /// let engine = SyncEngine<Landmark>()  // the user's private database of the app's default container
    /// let other = SyncEngine<Landmark>(database: .cloudKit(containerIdentifier: "iCloud.com.example.landmarks"))
    /// ```
    ///
    /// The app needs the iCloud capability with CloudKit and a container, and the Push Notifications
    /// capability for pushes. Without the first, CloudKit ends the process; on a Mac, requests fail with
    /// `missingEntitlement` or `badContainer` instead. You can use the database from any task.
    ///
    /// An engine's requests that a call waits for (a sync or one of its parts, a push, a background task) have the
    /// quality of service `userInitiated`: they fail at once without a network, and the system doesn't delay them while
    /// the app is in the background. Its other requests have `default`, with which the system tries again by itself.
    /// CloudKit gives up after ``SyncConfiguration/requestDeadline``, as the engine does. Your own requests have
    /// `userInitiated` in tasks of that priority or above, otherwise `default`, and CloudKit's own time limits.
    public final class CloudKitDatabase: CloudDatabase {
        /// The bundle identifier of the app, without which it has no default container; tests name another one.
        @TaskLocal package static var bundleIdentifier = Bundle.main.bundleIdentifier

        /// CloudKit's objects for the container's identifier.
        private struct Connection: Sendable {
            let container: CKContainer
            let database: CKDatabase
        }

        /// Which of the container's databases this is.
        public let scope: DatabaseScope

        private let containerIdentifier: String?
        /// Whether this process has a bundle identifier.
        private let isBundled: Bool
        /// Whether this process is known to use the development environment.
        private let isDevelopment: Bool
        /// Created on first use; `nil` until then.
        private let connection = Locked<Connection?>(nil)
        private let account = CloudKitAccount()

        /// Connects to a database of a container, and first calls CloudKit when the database is used.
        ///
        /// - Parameters:
        ///   - containerIdentifier: The container's identifier, as in the app's entitlements; the app's
        ///     default container by default.
        ///   - scope: Which of the container's databases to use. An engine needs the private one; your own
        ///     requests can use all three.
        public init(containerIdentifier: String? = nil, scope: DatabaseScope = .private) {
            self.containerIdentifier = containerIdentifier
            self.scope = scope
            isBundled = Self.bundleIdentifier != nil
            isDevelopment = CloudKitEntitlements.current?.isProduction == false
        }

        /// The container's identifier and the scope, and on a Mac the environment if that is development.
        ///
        /// An engine therefore never opens the state of a development build for a production build on a Mac. Other
        /// systems don't tell an app its environment.
        public var identifier: String {
            do throws(CloudError) {
                let container = try connected().container.containerIdentifier ?? "default"
                return "\(container)/\(scope.rawValue)" + (isDevelopment ? "/development" : "")
            } catch {
                // An engine refuses this database before it uses the identifier.
                return "none/\(scope.rawValue)"
            }
        }

        private func connected() throws(CloudError) -> Connection {
            try connection.withLock { connection throws(CloudError) in
                if let connection { return connection }
                try checkConfiguration()
                let container = containerIdentifier.map(CKContainer.init(identifier:)) ?? .default()
                let made = Connection(
                    container: container,
                    database: container.database(with: CKDatabase.Scope(scope))
                )
                connection = made
                return made
            }
        }

        /// CloudKit's limits.
        public var limits: DatabaseLimits { .cloudKit }

        /// Account changes reported by the system, and ``CloudSignal/reachable`` when there is a network again; the app
        /// passes on pushes itself.
        public var signals: AsyncStream<CloudSignal> { account.signals }

        /// A number that increases with each account change that the system reports.
        public var accountGeneration: Int { account.generation }

        /// Looks up the account's status.
        ///
        /// - Returns: The account's status.
        /// - Throws: ``CloudError`` if it could not be looked up.
        public func accountStatus() async throws -> AccountStatus {
            do {
                return AccountStatus(try await connected().container.accountStatus())
            } catch {
                throw reader.error(error)
            }
        }

        /// Looks up the user.
        ///
        /// - Returns: The user record name.
        /// - Throws: ``CloudError``; ``CloudError/Code-swift.enum/notAuthenticated`` if no user is signed in.
        public func userRecordName() async throws -> String {
            let generation = account.generation
            do {
                let name = try await connected().container.userRecordID().recordName
                account.note(user: name, lookedUpIn: generation)
                return name
            } catch {
                throw reader.error(error)
            }
        }

        /// The converter of responses.
        var reader: CloudKitReader { CloudKitReader(user: account.user) }

        /// Checks that a request names no item twice; CloudKit doesn't document how it handles duplicates.
        func checkUnique<ID: Hashable>(_ ids: [ID]) throws(CloudError) {
            if Set(ids).count < ids.count {
                throw CloudError(.invalidArguments, message: "The request names an item twice.")
            }
        }

        /// Makes a request as urgently as somebody waits for it, and no longer than the engine does.
        ///
        /// - Parameter request: Makes the request, and converts the response.
        /// - Returns: The converted response.
        /// - Throws: ``CloudError``.
        func perform<Answer: Sendable>(
            _ request: @Sendable (CKDatabase) async throws -> Answer
        ) async throws -> Answer {
            let configuration = CKOperation.Configuration()
            let terms = RequestTerms.current
            let isAwaited = terms?.isAwaited ?? (Task.currentPriority >= .userInitiated)
            configuration.qualityOfService = isAwaited ? .userInitiated : .default
            // Otherwise the system would try for a week, and might save what the engine has sent again since.
            if let terms { configuration.timeoutIntervalForResource = terms.deadline / .seconds(1) }
            do {
                return try await connected().database.configuredWith(
                    configuration: configuration,
                    body: request
                )
            } catch {
                throw reader.error(error)
            }
        }
    }

    extension CloudKitDatabase: ConfigurationChecking {
        private static var remedy: String {
            "Add the capability iCloud to the app's target, with CloudKit and a container. "
                + "A test uses FakeCloud().database(user:)."
        }

        /// Checks for mistakes that crash the process in CloudKit, since Swift can't catch its exceptions.
        ///
        /// - Throws: `badContainer` if there is no container; `missingEntitlement` on a Mac if the app was
        ///   signed without CloudKit.
        package func checkConfiguration() throws(CloudError) {
            if let containerIdentifier, containerIdentifier.isEmpty {
                throw CloudError(.badContainer, message: "The container identifier is empty.")
            }
            if containerIdentifier == nil, !isBundled {
                throw CloudError(
                    .badContainer,
                    message: "This process has no bundle identifier, and so no default container. Name one: "
                        + ".cloudKit(containerIdentifier: …). A test uses FakeCloud().database(user:)."
                )
            }
            guard let entitlements = CloudKitEntitlements.current else { return }
            guard entitlements.allowsCloudKit else {
                throw CloudError(
                    .missingEntitlement,
                    message: "This process was signed without the entitlement "
                        + "com.apple.developer.icloud-services for CloudKit. \(Self.remedy)"
                )
            }
            guard containerIdentifier != nil || !entitlements.containers.isEmpty else {
                throw CloudError(
                    .badContainer,
                    message: "The entitlement com.apple.developer.icloud-container-identifiers names no "
                        + "container, so there is no default one. \(Self.remedy)"
                )
            }
        }
    }

    extension CloudDatabase where Self == CloudKitDatabase {
        /// The default database of an engine: the user's private database of the app's default container.
        public static var `default`: CloudKitDatabase { CloudKitDatabase() }

        /// A database of a container.
        ///
        /// - Parameters:
        ///   - containerIdentifier: The container's identifier; the app's default container by default.
        ///   - scope: Which of the container's databases to use.
        /// - Returns: A connection to it.
        public static func cloudKit(
            containerIdentifier: String? = nil,
            scope: DatabaseScope = .private
        ) -> CloudKitDatabase {
            CloudKitDatabase(containerIdentifier: containerIdentifier, scope: scope)
        }
    }

    extension CKDatabase.Scope {
        init(_ scope: DatabaseScope) {
            switch scope {
            case .public: self = .public
            case .private: self = .private
            case .shared: self = .shared
            }
        }
    }

    extension DatabaseScope {
        /// Converts a scope; `nil` for one that this version does not know.
        init?(_ scope: CKDatabase.Scope) {
            switch scope {
            case .public: self = .public
            case .private: self = .private
            case .shared: self = .shared
            @unknown default: return nil
            }
        }
    }

    extension AccountStatus {
        init(_ status: CKAccountStatus) {
            switch status {
            case .couldNotDetermine: self = .couldNotDetermine
            case .available: self = .available
            case .restricted: self = .restricted
            case .noAccount: self = .noAccount
            case .temporarilyUnavailable: self = .temporarilyUnavailable
            @unknown default: self = .couldNotDetermine
            }
        }
    }
#endif
