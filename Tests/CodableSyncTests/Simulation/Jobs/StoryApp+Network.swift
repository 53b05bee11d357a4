#if os(Linux)
    @testable import CodableSync

    /// Network faults and delays between a device and the cloud.
    extension StoryApp {
        /// Delivers a held request or answer, or loses it.
        func deliver() {
            let connections = ([connection] + formerConnections).filter { $0.waitingCount > 0 }
            guard !connections.isEmpty else { return }
            let chosen = connections[story.chance(connections.count)]
            let place = story.chance(chosen.waitingCount)
            let errors: [CloudError.Code] = [.networkFailure, .serverResponseLost, .zoneBusy, .internalError]
            let isLost = story.options.faults && story.chance(8) == 0
            let error = CloudError(errors[story.chance(errors.count)])
            let operation = chosen.release(place, isLost ? .fails(error) : .arrives)
            say("\(operation) \(isLost ? "fails" : "arrives")")
        }

        func hideRecords() {
            connection.unreadable = story.chance(2) == 0 ? [] : [story.names[story.chance(story.names.count)]]
            say("cannot read \(connection.unreadable.sorted())")
        }
    }
#endif
