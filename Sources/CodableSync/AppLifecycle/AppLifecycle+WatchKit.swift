// WatchKit is on iOS too, where it has nothing to use.
#if canImport(WatchKit) && !os(iOS)
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
