#if os(Linux)
    @testable import CodableSync

    /// At rest, the elements of `liveChanges` give what reads show.
    extension StoryApp {
        /// Whether the app has a loop over `liveChanges`.
        private var folds: Bool { isLive || Model.hasFields && story.options.followsBeside }

        /// Starts a loop over `liveChanges`, unless the app makes uploads of whole models: their base is what
        /// the loop was given, so an app must take its copies from there.
        func followBeside() {
            guard folds, !isLive else { return }
            let (changes, life) = (engine.liveChanges, life)
            liveLoop = Task { [self] in
                for await change in changes {
                    guard life == self.life else { return }
                    folded.apply(change)
                }
            }
        }

        /// Runs all jobs until none is left, and compares; requests and answers may still be held.
        func compare() {
            guard folds, !isBusy, !story.options.refusesWrites, story.options.refusedWrite == nil else {
                return
            }
            story.simulation.drain()
            guard !isBusy else { return }
            say("compares")
            switch toEnd({ try await $0.allModels() }) {
            case .success(let models)?:
                checkFolded(models.reduce(into: [:]) { $0[$1.recordName] = $1 })
            case .failure(let error)?: say("cannot compare: \(error)")
            case nil: story.fail("\(index): a read never returns")
            }
        }

        func checkFolded(_ shown: [String: Model]) {
            guard folds, folded != shown else { return }
            story.fail("liveChanges of \(index) gave \(folded), reads show \(shown)")
        }
    }
#endif
