import ArgumentParser
import Foundation

/// The command `landmarks`: a command-line app on the library's public interface.
@main
struct Landmarks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "landmarks",
        abstract: "Landmarks of the world, synced across your devices.",
        discussion: """
            Every --device has its own state. Commands queue changes on their device; 'sync' sends them to the \
            cloud, a directory that the devices share or a server, and fetches the changes of other devices.

            Exit codes: 0 done, 64 usage, 65 bad input data, 66 no such input, 69 cloud unreachable, \
            70 internal error, 74 disk, 75 state in use, 130 interrupted.
            """,
        subcommands: [
            Demo.self, Import.self, Add.self, Edit.self, Remove.self, List.self, Sync.self, Watch.self,
            Status.self, Schema.self, SignIn.self, AnswerPurge.self,
        ]
    )

    @OptionGroup var options: DeviceOptions

    static func main() async {
        Output.holdPlaces()
        // A closed pipe is an error of the write; it doesn't end the process.
        signal(SIGPIPE, SIG_IGN)
        let status = await Program(arguments: Array(CommandLine.arguments.dropFirst())).run()
        Foundation.exit(status)
    }
}
