import ArgumentParser
import Foundation

/// The story of the project in one command.
struct Demo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Two devices, one cloud, in a temporary place: the story of this project.",
        discussion: """
            It touches neither your devices nor your cloud. It ends by comparing both devices and the cloud record \
            by record, and fails if anything differs.
            """
    )

    @ParentCommand var landmarks: Landmarks

    func run() async throws {
        let directory = FileManager.default.temporaryDirectory
            .appending(path: "landmarks-demo-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let narrator = Narrator(.standard, usesColor: Self.usesColor)
        let story = Story(in: directory, narrator: narrator)
        do {
            try await story.tell()
            try await story.close()
        } catch {
            try await story.close()
            try remove(directory)
            throw error
        }
        guard narrator.failures.isEmpty else {
            throw Failure(
                .software,
                "the story did not come true: \(narrator.failures.joined(separator: "; ")). "
                    + "Look at '\(directory.path.shown)'."
            )
        }
        try remove(directory)
        try Output.standard.write("\nEverything came true.\n")
    }

    private func remove(_ directory: URL) throws {
        try FileManager.default.removeItem(at: directory)
    }

    private static var usesColor: Bool {
        let isPlain = ProcessInfo.processInfo.environment["NO_COLOR"].map { !$0.isEmpty } ?? false
        return Output.standard.isTerminal && !isPlain
    }
}
