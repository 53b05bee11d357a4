// Only watchOS has these types. Other SDKs have a module without them, or may have one.
#if canImport(WatchKit) && !os(iOS) && !os(macOS) && !os(tvOS) && !os(visionOS)
    public import WatchKit

    extension WKBackgroundFetchResult {
        /// Converts the outcome of ``AppLifecycle/handleNotification(_:within:)`` for the system.
        ///
        /// - Parameter outcome: The outcome; `notOurs` is `noData`.
        public init(_ outcome: NotificationOutcome) {
            switch outcome {
            case .newData: self = .newData
            case .noData, .notOurs: self = .noData
            case .failed: self = .failed
            }
        }
    }
#endif
