import Foundation

/// The user's data directory.
enum DataDirectory {
    /// The directory of this program in it.
    ///
    /// `XDG_DATA_HOME`, else `.local/share` in `HOME`, else in the user's home directory as the system knows it. A
    /// relative path is an error: ignoring it, as the specification allows, would put data in an unexpected place.
    ///
    /// - Throws: ``Failure`` with the name of the invalid variable.
    static func path(in environment: Environment = .current, userHome: String = NSHomeDirectory()) throws
        -> URL
    {
        #if canImport(Darwin)
            return URL.applicationSupportDirectory.appending(path: "landmarks", directoryHint: .isDirectory)
        #else
            if let data = try environment.path("XDG_DATA_HOME", or: "give --home") {
                return URL(filePath: data, directoryHint: .isDirectory).appending(path: "landmarks")
            }
            let home = try environment.path("HOME", or: "give --home") ?? userHome
            return URL(filePath: home, directoryHint: .isDirectory).appending(path: ".local/share/landmarks")
        #endif
    }
}
