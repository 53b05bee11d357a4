#if os(Linux)
    @testable import CodableSync

    /// What must hold on a device at the end of a story.
    extension StoryApp {
        func check(_ server: [String: Model]) {
            switch toEnd({ try await ($0.allModels(), $0.parkedChanges()) }) {
            case .success((let models, let parked))?:
                let shown = models.reduce(into: [:]) { $0[$1.recordName] = $1 }
                if shown != server { story.fail("\(index) shows \(shown), the server has \(server)") }
                checkFolded(shown)
                if !parked.isEmpty { story.fail("\(index) has parked \(parked)") }
            case .failure(let error)?: story.fail("\(index) cannot read: \(error)")
            case nil: story.fail("\(index): a read never returns")
            }
            let conflicts = events.withLock { events in
                events.count { if case .conflictResolved = $0 { true } else { false } }
            }
            let lost = events.withLock { events in
                events.compactMap { if case .storageFailed(let text) = $0 { text } else { nil } }
            }
            if !story.options.crashes, !story.options.refusesWrites, story.options.refusedWrite == nil {
                // Other texts are expected: an engine cannot read while it is being closed.
                for text in lost where text.hasSuffix("missing.") { story.fail("\(index): \(text)") }
            }
            // A late deletion of an earlier version meets the next edit.
            if story.options.writers == 1, conflicts > 0, !mayMeetOwnUpload, !story.options.delays {
                story.fail("\(index) had \(conflicts) conflicts, but only one device writes")
            }
            // A record that the app deleted is ignored: a change made before the deletion may have arrived
            // after it. Stamps of unacknowledged calls are ignored: their outcome is unknown.
            func kept(_ models: [String: Model]) -> [String: Set<String>] {
                models.filter { !story.deleted.contains($0.key) }.reduce(into: [:]) { kept, model in
                    kept[model.key] = story.acknowledged[model.key, default: []].intersection(
                        model.value.stamps
                    )
                }
            }
            if consumes, kept(mirror) != kept(server) {
                story.fail("the app on \(index) has \(mirror), the server has \(server)")
            }
        }
    }
#endif
