#if os(Linux)
    import XCTest

    @testable import CodableSync

    /// Stories of jobs.
    ///
    /// `SEEDS=5000..<5100` in the environment runs other seeds, and `LOG=1` prints each story.
    final class JobStoryTests: XCTestCase {
        private func story<Model>(
            _ seed: UInt64,
            of model: Model.Type,
            _ options: StoryOptions,
            keepsLog: Bool
        ) -> JobStory<Model> {
            JobSimulation.run(seed: seed) { simulation in
                let story = JobStory<Model>(seed: seed, options, keepsLog: keepsLog, in: simulation)
                story.run()
                return story
            }
        }

        private func tell<Model: StoryModel>(
            _ model: Model.Type = StampSet.self,
            _ count: UInt64,
            variants: UInt64 = 1,
            _ change: (inout StoryOptions, _ variant: UInt64) -> Void
        ) throws {
            var failed: [UInt64] = []
            for seed in try Seeds.named(first: count, of: 0..<200) {
                var options = StoryOptions()
                change(&options, seed % variants)
                let told = story(seed / variants, of: model, options, keepsLog: StoryLog.isPrinted)
                if told.failures.isEmpty { continue }
                if failed.isEmpty {
                    let again = story(seed / variants, of: model, options, keepsLog: true)
                    XCTFail((["seed \(seed)"] + again.log + told.failures).joined(separator: "\n"))
                }
                failed.append(seed)
            }
            XCTAssertEqual(failed, [])
        }

        private func tell<Model: StoryModel>(
            _ model: Model.Type = StampSet.self,
            _ change: (inout StoryOptions) -> Void = { _ in }
        ) throws {
            try tell(model, 1) { options, _ in change(&options) }
        }

        private func onlyReorderJobs(_ options: inout StoryOptions) {
            options.faults = false
            options.crashes = false
            options.losesZone = false
            options.expiresTokens = false
            options.hidesRecords = false
        }

        /// I-01: no acknowledged upload is missing, in any order of jobs.
        func testNoAcknowledgedUploadIsMissing() throws { try tell() }

        /// The same with jobs and answers in any order, but no other faults.
        func testNoAcknowledgedUploadIsMissingWhenOnlyJobsAreReordered() throws {
            try tell(StampSet.self, onlyReorderJobs)
        }

        /// I-11, I-19: all devices agree in the end when records are deleted.
        func testDevicesConvergeWhenRecordsAreDeleted() throws { try tell { $0.deletes = true } }

        /// No edit, draft or deletion is lost while a newer version of the app saves some records.
        func testNoEditIsLostBesideANewerVersionOfTheApp() throws {
            try tell(StampFields.self) {
                $0.hasNewerApps = true
                $0.losesZone = false
            }
        }

        /// The same with uploads of whole records, and deletions.
        func testDevicesConvergeBesideANewerVersionOfTheApp() throws {
            try tell {
                $0.hasNewerApps = true
                $0.deletes = true
                $0.losesZone = false
            }
        }

        /// I-01, I-02: no edit or draft is lost and no field is reverted, while loops, reads and uploads run.
        func testNoFieldIsReverted() throws {
            try tell(StampFields.self) { $0.losesZone = false }
        }

        /// The same while zones are lost.
        func testNoElementOfAListIsLostWhenZonesAreLost() throws { try tell(StampLists.self) }

        /// The same with jobs and answers in any order, but no other faults.
        func testNoFieldIsRevertedWhenOnlyJobsAreReordered() throws {
            try tell(StampFields.self, onlyReorderJobs)
        }

        /// I-01, I-02: no element of a list is lost or comes back when all devices change it.
        func testNoElementOfAListIsLost() throws {
            try tell(StampLists.self) { $0.losesZone = false }
        }

        /// The same with jobs and answers in any order, but no other faults.
        func testNoElementOfAListIsLostWhenOnlyJobsAreReordered() throws {
            try tell(StampLists.self, onlyReorderJobs)
        }

        /// I-01, I-03: an edit that the disk rejects leaves no trace, and no other edit is lost with it.
        func testARejectedEditLeavesNoTrace() throws {
            try tell(StampFields.self) {
                $0.refusesWrites = true
                $0.losesZone = false
            }
        }

        /// The same for uploads, which replace whole records.
        func testARejectedUploadLeavesNoTrace() throws {
            try tell {
                $0.refusesWrites = true
                $0.losesZone = false
            }
        }

        /// I-01, I-03: the same for each write of a story in turn: 60 seeds run the same story, and in each the disk of one
        /// device rejects a different write.
        func testNothingIsLostWhenAnySingleWriteIsRejected() throws {
            try tell(StampFields.self, 2, variants: 60) { options, variant in
                options.refusedWrite = Int(variant)
                options.crashes = false
                options.losesZone = false
                options.length = 120
            }
        }

        /// I-39, I-40: each user's edits reach that user's records and nobody else's, even when the account
        /// changes between two jobs.
        func testEditsNeverReachAnotherUsersRecords() throws {
            try tell {
                $0.changesUsers = true
                $0.consumes = false
                $0.losesZone = false
            }
        }

        /// The same for edits in place, beside a loop that folds `liveChanges`: it shows what reads show, and
        /// nothing of a former user.
        func testLiveChangesGiveWhatReadsShowWhenUsersChange() throws {
            try tell(StampFields.self) {
                $0.changesUsers = true
                $0.consumes = false
                $0.losesZone = false
            }
        }

        /// No field is reverted by requests that arrive long after they were given up.
        func testNoFieldIsRevertedByALateRequest() throws {
            try tell(StampFields.self) {
                $0.delays = true
                $0.losesZone = false
            }
        }

        /// The same while zones are lost.
        func testNoElementOfAListIsLostByALateRequest() throws {
            try tell(StampLists.self) { $0.delays = true }
        }

        /// What the only writer has deleted stays deleted, whatever arrives behind it.
        func testNoLateRequestUndoesADeletion() throws {
            // Three of these stories have such a request.
            try tell(StampSet.self, 12) { options, _ in
                options.delays = true
                options.deletes = true
                options.writers = 1
                options.losesZone = false
            }
        }

        /// What the only writer has uploaded stays, whatever deletion arrives behind it.
        func testNoLateRequestUndoesAnUpload() throws {
            try tell(StampSet.self, 12) { options, _ in
                options.delays = true
                options.deletes = true
                options.writers = 1
                options.losesZone = false
                options.uploadsLast = true
                options.length = 100
            }
        }

        /// With a single writer, no conflict occurs.
        func testASingleWriterHasNoConflicts() throws {
            try tell {
                $0.writers = 1
                $0.losesZone = false
            }
        }

        func testASeedGivesTheSameStoryTwice() {
            for seed in UInt64(0)..<1 {
                let first = story(seed, of: StampSet.self, .init(), keepsLog: true)
                let second = story(seed, of: StampSet.self, .init(), keepsLog: true)
                let difference = zip(first.log, second.log).first { $0 != $1 }
                XCTAssertNil(difference, "seed \(seed)")
                XCTAssertEqual(first.simulation.digest, second.simulation.digest, "seed \(seed)")
            }
        }
    }
#endif
