import ArgumentParser
import CodableSync
import LandmarkModel

/// Answers the question what becomes of the landmarks here after the user has removed the app's data from the cloud.
struct AnswerPurge: AsyncParsableCommand {
    enum Answer: String, ExpressibleByArgument, CaseIterable {
        case uploadAgain = "upload-again"
        case removeLocal = "remove-local"

        var purgeAnswer: PurgeAnswer {
            switch self {
            case .uploadAgain: .uploadAgain
            case .removeLocal: .removeLocal
            }
        }

        /// What it does, for people.
        var effect: String {
            switch self {
            case .uploadAgain: "all landmarks of this device are uploaded again"
            case .removeLocal:
                "what the cloud had is removed from this device; edits that it never had are uploaded"
            }
        }
    }

    static let configuration = CommandConfiguration(
        commandName: "answer-purge",
        abstract: "Say what becomes of the landmarks here after the app's data was removed from the cloud.",
        discussion: """
            'sync' fails with this question if the user has removed the data in the settings of the cloud. Until it is \
            answered, the device sends and removes nothing.
            """
    )

    @Argument(
        help: ArgumentHelp(
            "upload-again (all landmarks to a new zone) or remove-local (what the cloud had, from this device).",
            valueName: "upload-again|remove-local"
        )
    )
    var answer: Answer

    @OptionGroup var options: DeviceOptions

    func run() async throws {
        let text = try await options.chosenDevice().withEngine { engine in
            try await Self.give(answer, to: engine)
        }
        try Output.standard.write(text)
    }

    /// Gives an answer, and syncs.
    ///
    /// - Parameters:
    ///   - answer: The answer.
    ///   - engine: The engine that asks.
    /// - Returns: What it does, and what was synced.
    /// - Throws: ``Failure`` if there is no question; `SyncError` if the cloud can't be reached.
    static func give(_ answer: Answer, to engine: SyncEngine<Landmark>) async throws -> String {
        do {
            _ = try await engine.sync()
            throw Failure(
                .usage,
                "the data was not removed from the cloud, so there is no question to answer"
            )
        } catch let error as SyncError where error.code == .waitingForDecision {
            try await engine.resolvePurge(answer.purgeAnswer)
        }
        return answer.effect + "\n" + Sync.text(of: try await engine.sync())
    }
}
