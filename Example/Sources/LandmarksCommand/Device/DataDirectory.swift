import Foundation

/// Where a user's programs keep their data.
enum DataDirectory {
    static var current: URL {
        #if canImport(Darwin)
            return URL.applicationSupportDirectory.appending(path: "landmarks", directoryHint: .isDirectory)
        #else
            let data = ProcessInfo.processInfo.environment["XDG_DATA_HOME"]
            return directory(dataHome: data, userHome: NSHomeDirectory())
        #endif
    }

    /// The rule of the XDG base directories: a relative path is to be ignored.
    static func directory(dataHome: String?, userHome: String) -> URL {
        if let dataHome, dataHome.hasPrefix("/") {
            return URL(filePath: dataHome, directoryHint: .isDirectory).appending(path: "landmarks")
        }
        return URL(filePath: userHome, directoryHint: .isDirectory).appending(path: ".local/share/landmarks")
    }
}
