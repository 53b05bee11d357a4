// On a Mac and on a watch the module has nothing to use.
#if canImport(BackgroundTasks) && !os(macOS) && !os(watchOS)
    import BackgroundTasks
    import Foundation

    @available(iOSApplicationExtension, unavailable)
    @available(tvOSApplicationExtension, unavailable)
    @available(visionOSApplicationExtension, unavailable)
    extension AppLifecycle {
        /// Registers a processing task that syncs about once a day, and schedules it.
        ///
        /// Call it once, before the app has finished launching. The app's `Info.plist` must have the
        /// identifier under `BGTaskSchedulerPermittedIdentifiers`, and `processing` under
        /// `UIBackgroundModes`. The system starts the task when the device is idle and has a network, at the
        /// earliest 24 hours after the last launch or run. The task schedules the next one, syncs, and
        /// reports success if both worked. It skips engines that the app has stopped or deactivated.
        ///
        /// - Parameter identifier: The task's identifier, for example `com.example.notes.sync`.
        /// - Throws: `BGTaskScheduler.Error`: `notPermitted` if the identifier or the background mode is
        ///   missing, `unavailable` in the simulator and if the user has turned off background refresh.
        public func registerDailySync(identifier: String) throws {
            // The handler runs on a queue of the system, so it must not be formed on the main actor.
            let isPermitted = BGTaskScheduler.shared.register(forTaskWithIdentifier: identifier, using: nil) {
                run($0, identifier: identifier)
            }
            guard isPermitted else { throw BGTaskScheduler.Error(.notPermitted) }
            try scheduleDailySync(identifier: identifier)
        }

        private func scheduleDailySync(identifier: String) throws {
            let request = BGProcessingTaskRequest(identifier: identifier)
            request.requiresNetworkConnectivity = true
            request.earliestBeginDate = clock.now.wall.addingTimeInterval(24 * 60 * 60)
            try BGTaskScheduler.shared.submit(request)
        }

        private func run(_ task: BGTask, identifier: String) {
            // The system passes the task to this handler alone. It is used here before the work can end it, and
            // then only by the work.
            nonisolated(unsafe) let task = task
            let scheduling = Result { try scheduleDailySync(identifier: identifier) }
            let syncing = Task {
                try await syncUnlessStopped()
                try scheduling.get()
            }
            task.expirationHandler = { syncing.cancel() }
            Task {
                let isSuccess: Bool
                switch await syncing.result {
                case .success: isSuccess = true
                // The engines report failures in their status and events.
                case .failure: isSuccess = false
                }
                task.setTaskCompleted(success: isSuccess)
            }
        }
    }
#endif
