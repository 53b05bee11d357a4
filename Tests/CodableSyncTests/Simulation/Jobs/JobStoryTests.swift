#if os(Linux)
    import XCTest

    @testable import CodableSync

    /// Stories of jobs: `SEEDS=5000..<5100` in the environment tells others, and `LOG=1` prints them.
    final class JobStoryTests: XCTestCase {
        private func tell(
            _ count: UInt64,
            of all: Range<UInt64> = 0..<200,
            _ change: (inout JobStory.Options) -> Void
        ) throws {
            var failed: [UInt64] = []
            for seed in try Seeds.named(first: count, of: all) {
                var options = JobStory.Options()
                change(&options)
                let story = JobSimulation.run(seed: seed) { simulation in
                    let story = JobStory(seed: seed, options, in: simulation)
                    story.run()
                    return story
                }
                if story.failures.isEmpty { continue }
                if failed.isEmpty {
                    XCTFail((["seed \(seed)"] + story.log + story.failures).joined(separator: "\n"))
                }
                failed.append(seed)
            }
            XCTAssertEqual(failed, [])
        }

        /// I-01: nothing that an upload returned for is missing, whatever falls between two jobs.
        func testNothingThatACallReturnedForIsMissing() throws { try tell(40) { _ in } }

        /// Nothing depends on anything but the seed.
        func testASeedGivesTheSameStoryTwice() throws {
            func tell(_ seed: UInt64) -> (log: [String], digest: UInt64) {
                JobSimulation.run(seed: seed) { simulation in
                    let story = JobStory(seed: seed, JobStory.Options(), in: simulation)
                    story.run()
                    return (story.log, simulation.digest)
                }
            }
            for seed in UInt64(0)..<5 {
                let (first, second) = (tell(seed), tell(seed))
                XCTAssertEqual(first.log, second.log)
                XCTAssertEqual(first.digest, second.digest)
            }
        }
    }
#endif
