#if os(Linux)
    import XCTest

    @testable import CodableSync

    /// Stories of jobs: `SEEDS=5000..<5100` in the environment tells others, and `LOG=1` prints them.
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
            try tell(model, 2) { options, _ in change(&options) }
        }

        /// I-01: nothing that an upload returned for is missing, whatever falls between two jobs.
        func testNothingThatACallReturnedForIsMissing() throws { try tell() }

        /// The same, where only jobs and answers are out of order.
        func testNothingIsMissingWhereOnlyJobsCross() throws {
            try tell {
                $0.faults = false
                $0.crashes = false
                $0.losesZone = false
                $0.expiresTokens = false
                $0.hidesRecords = false
            }
        }

        /// I-11, I-19: everybody has the same in the end where records are deleted.
        func testEverybodyHasTheSameInTheEnd() throws { try tell { $0.deletes = true } }

        /// I-01, I-02: no edit and no draft is lost, and no field goes back, beside loops, reads and uploads.
        func testNoFieldGoesBack() throws {
            try tell(StampFields.self) { $0.losesZone = false }
        }

        /// The same, where only jobs and answers are out of order.
        func testNoFieldGoesBackWhereOnlyJobsCross() throws {
            try tell(StampFields.self) {
                $0.faults = false
                $0.crashes = false
                $0.losesZone = false
                $0.expiresTokens = false
                $0.hidesRecords = false
            }
        }

        /// I-01: an edit that the disk refuses leaves nothing behind, and takes no other edit with it.
        func testNoEditThatWasRefusedStays() throws {
            try tell(StampFields.self) {
                $0.refusesWrites = true
                $0.losesZone = false
            }
        }

        /// The same for uploads, which replace whole records.
        func testNoUploadThatWasRefusedStays() throws {
            try tell {
                $0.refusesWrites = true
                $0.losesZone = false
            }
        }

        /// I-01: the same for each write of a story in turn: 60 seeds tell the same story, in each of which the disk of one
        /// device refuses another one.
        func testNothingIsLostWhicheverWriteIsRefused() throws {
            try tell(StampFields.self, 4, variants: 60) { options, variant in
                options.refusedWrite = Int(variant)
                options.crashes = false
                options.losesZone = false
                options.length = 120
            }
        }

        /// I-05: what a user writes comes to their own records, whoever signs in between two jobs.
        func testNothingComesToAnotherUsersRecords() throws {
            try tell {
                $0.changesUsers = true
                $0.consumes = false
                $0.losesZone = false
            }
        }

        /// Whoever writes alone meets no conflict.
        func testOneWriterMeetsNoConflict() throws {
            try tell {
                $0.writers = 1
                $0.losesZone = false
            }
        }

        /// Nothing depends on anything but the seed.
        func testASeedGivesTheSameStoryTwice() {
            for seed in UInt64(0)..<2 {
                let first = story(seed, of: StampSet.self, .init(), keepsLog: true)
                let second = story(seed, of: StampSet.self, .init(), keepsLog: true)
                let difference = zip(first.log, second.log).first { $0 != $1 }
                XCTAssertNil(difference, "seed \(seed)")
                XCTAssertEqual(first.simulation.digest, second.simulation.digest, "seed \(seed)")
            }
        }
    }
#endif
