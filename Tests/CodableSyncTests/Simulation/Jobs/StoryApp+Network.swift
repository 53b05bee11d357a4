#if os(Linux)
    @testable import CodableSync

    /// Network faults and delays between a device and the cloud.
    extension StoryApp {
        /// Delivers a held request or answer, or loses it.
        func deliver() {
            if story.options.delays, story.chance(40) == 0, deliverLate() { return }
            let connections = ([connection] + formerConnections).filter { $0.waitingCount > 0 }
            guard !connections.isEmpty else { return }
            let chosen = connections[story.chance(connections.count)]
            let place = story.chance(chosen.waitingCount)
            let errors: [CloudError.Code] = [.networkFailure, .serverResponseLost, .zoneBusy, .internalError]
            let isLost = story.options.faults && story.chance(8) == 0
            let error = CloudError(errors[story.chance(errors.count)])
            let isLate =
                story.options.delays && chosen.operation(place) == .modifyRecords && story.chance(3) == 0
            let fate: SimulatedConnection.Fate =
                isLate ? .isLate(error) : isLost ? .fails(error) : .arrives
            let operation = chosen.release(place, fate)
            say("\(operation) \(isLate ? "is late" : isLost ? "fails" : "arrives")")
        }

        /// Delivers a request that an engine has given up, if there is one.
        func deliverLate() -> Bool {
            guard let chosen = ([connection] + formerConnections).first(where: { $0.lateCount > 0 }) else {
                return false
            }
            say("a late request arrives")
            chosen.deliverLate(story.chance(chosen.lateCount))
            return true
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
