import ArgumentParser
import Foundation

/// Two devices and a cloud, from offline edits to a restart.
struct Demo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show two devices and a cloud: offline edits, conflicts, a lost response.",
        discussion: """
            It doesn't touch your devices and your cloud. At the end it compares both devices and the cloud \
            record by record, and fails if anything differs.
            """
    )

    @OptionGroup var options: DeviceOptions

    func run() async throws {
        let directory = try Self.makeDirectory()
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
                "the demo failed: \(narrator.failures.joined(separator: "; ")). "
                    + "Look at '\(directory.path.shown)'."
            )
        }
        try remove(directory)
        try Output.standard.write("\nEverything came true.\n")
    }

    /// A temporary directory for the demo.
    private static func makeDirectory(in environment: Environment = .current) throws -> URL {
        let place = try environment.path("TMPDIR", or: "unset it") ?? "/tmp"
        let directory = URL(filePath: place, directoryHint: .isDirectory)
            .appending(path: "landmarks-demo-\(UUID().uuidString)", directoryHint: .isDirectory)
        guard mkdir(directory.path, 0o700) == 0 else {
            let reason = String(cString: strerror(errno))
            throw Failure(
                [ENOENT, ENOTDIR].contains(errno) ? .usage : .inputOutput,
                "can't create a directory in '\(place.shown)': \(reason). Set the environment variable TMPDIR to a "
                    + "directory that you can write to"
            )
        }
        return directory
    }

    private func remove(_ directory: URL) throws {
        try FileManager.default.removeItem(at: directory)
    }

    private static var usesColor: Bool {
        let isPlain = ProcessInfo.processInfo.environment["NO_COLOR"].map { !$0.isEmpty } ?? false
        return Output.standard.isTerminal && !isPlain
    }
}
