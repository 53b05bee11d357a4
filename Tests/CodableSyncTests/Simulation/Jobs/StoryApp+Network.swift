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

        /// Stamps that saves of this device added to a record, without an answer.
        ///
        /// Where another device then merges such a save into a change of its own, nothing tells this device that the
        /// cloud's version contains it; what it has removed since may come back.
        func addedUnanswered(to name: String) -> Set<String> {
            (formerConnections + [connection]).flatMap(\.unansweredSaves).reduce(into: []) { stamps, save in
                let (before, after) = (
                    story.stamps(of: save.before[name]), story.stamps(of: save.after[name])
                )
                stamps.formUnion(after.subtracting(before))
            }
        }
    }
#endif
