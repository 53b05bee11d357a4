import ArgumentParser
import Foundation

/// Which device this is, and where it and the cloud are.
///
/// Every command has this group, for its help. The parser reads it once, wherever on the line its options stand.
struct DeviceOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The device's name (default: the name of this host).", valueName: "name"))
    var device: String?

    @Option(
        help: ArgumentHelp("Where devices keep their state (default: the user's data).", valueName: "dir")
    )
    var home: String?

    @Option(
        help: ArgumentHelp("The cloud: a directory that devices share (default: in home).", valueName: "dir")
    )
    var cloud: String?

    /// The device that is meant.
    func chosenDevice() throws -> Device {
        let name = device ?? HostName.current
        if name.isEmpty { throw Failure(.usage, "the name of --device is empty") }
        let home = try directory(home, of: "--home") ?? DataDirectory.path()
        return Device(name: name, home: home, cloud: try directory(cloud, of: "--cloud"))
    }

    private func directory(_ path: String?, of option: String) throws -> URL? {
        guard let path else { return nil }
        if path.isEmpty { throw Failure(.usage, "the directory of \(option) is empty") }
        // The system's names are bytes; those that are not text arrive here with the replacement character.
        if path.unicodeScalars.contains("\u{FFFD}") {
            throw Failure(.usage, "the directory of \(option), '\(InputFile(path).shownPath)', is not UTF-8")
        }
        return URL(filePath: path, directoryHint: .isDirectory).absoluteURL
    }
}
