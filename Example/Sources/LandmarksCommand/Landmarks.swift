import ArgumentParser
import Foundation

/// The command `landmarks`: an app without a screen, on the library's public interface alone.
@main
struct Landmarks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "landmarks",
        abstract: "Landmarks of the world, the same on all of your devices.",
        discussion: """
            Every --device has its own state. What a command changes is queued on that device; 'sync' sends it to \
            the cloud, a directory that the devices share, and fetches what the others did.

            Exit codes: 0 done, 64 usage, 65 bad input data, 66 no such input, 69 cloud unreachable, \
            70 internal error, 74 disk, 75 state in use, 130 interrupted.
            """,
        subcommands: [
            Demo.self, Import.self, Add.self, Edit.self, Remove.self, List.self, Sync.self, Watch.self,
            Status.self, Schema.self,
        ]
    )

    @OptionGroup var options: DeviceOptions

    static func main() async {
        Output.holdPlaces()
        // A reader that has gone away is an error of the write, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        let status = await Program(arguments: Array(CommandLine.arguments.dropFirst())).run()
        Foundation.exit(status)
    }
}
