import Foundation

/// Where a user's programs keep their data.
enum DataDirectory {
    /// The directory of this program in it.
    ///
    /// `XDG_DATA_HOME`, else `.local/share` in `HOME`, else in the home that the system knows of the user. The rules of
    /// these directories allow to ignore a relative path; but data that lie where nobody looks for them are as good
    /// as lost.
    ///
    /// - Throws: ``Failure``: usage, with the name of the variable that is to blame.
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
