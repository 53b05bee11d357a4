import ArgumentParser
import Foundation

/// The device, and where its state and the cloud are.
///
/// Every command has these options in its help. They may stand anywhere on the command line.
struct DeviceOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The device's name (default: this host's name).", valueName: "name"))
    var device: String?

    @Option(
        help: ArgumentHelp(
            "The directory of the devices' state (default: 'landmarks' in the user's data directory).",
            valueName: "dir"
        )
    )
    var home: String?

    @Option(
        help: ArgumentHelp(
            "The directory that plays the cloud (default: 'cloud' in --home), or a server's URL.",
            valueName: "dir|url"
        )
    )
    var cloud: String?

    /// The device.
    func chosenDevice() throws -> Device {
        let name = device ?? HostName.current
        if name.isEmpty { throw Failure(.usage, "the name of --device is empty") }
        let home = try directory(home, of: "--home") ?? DataDirectory.path()
        return Device(name: name, home: home, cloud: try chosenCloud())
    }

    private func chosenCloud() throws -> Cloud? {
        if let cloud, let server = try WebServer(cloud) { return .server(server) }
        return try directory(cloud, of: "--cloud").map { .directory($0, isGiven: true) }
    }

    private func directory(_ path: String?, of option: String) throws -> URL? {
        guard let path else { return nil }
        if path.isEmpty { throw Failure(.usage, "the directory of \(option) is empty") }
        // Paths are bytes; those that aren't UTF-8 arrive here with replacement characters.
        if path.unicodeScalars.contains("\u{FFFD}") {
            throw Failure(.usage, "the directory of \(option), '\(InputFile(path).shownPath)', is not UTF-8")
        }
        return URL(filePath: path, directoryHint: .isDirectory).absoluteURL
    }
}
