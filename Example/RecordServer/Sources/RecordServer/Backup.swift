import ArgumentParser
import Foundation
import RecordServerKit

/// Copies what a server keeps, while it runs.
struct Backup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copies the directory of a server, which may run meanwhile: backup DIR --directory SERVER.",
        discussion: """
            The copy has every change that was answered before. To restore it, stop the server, put the copy in place of \
            its directory, and start it again: devices upload what they have and the copy has not. \
            --directory is the directory of the server.
            """
    )

    @Argument(help: ArgumentHelp("The copy, a directory that does not exist yet.", valueName: "dir"))
    var destination: String
    // It has the option --directory, which is read before those of a subcommand.
    @ParentCommand var server: RecordServerCommand

    func run() async throws {
        guard let directory = server.directory else {
            throw ValidationError("--directory is missing: the directory of the server, which is copied.")
        }
        let count = try await ServerStorage.backUp(directory, to: destination)
        print("\(destination): \(count) bytes")
    }
}
