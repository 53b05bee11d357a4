import class Foundation.ProcessInfo
public import struct Foundation.URL

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif
#if canImport(Darwin)
    import class Foundation.FileManager
#endif

extension LocalDatabase {
    /// Where ``CloudDatabase/local`` keeps its files.
    ///
    /// On Apple systems that is Application Support; elsewhere `$XDG_DATA_HOME`, or `~/.local/share` where the
    /// variable is missing or is not an absolute path.
    public static var defaultDirectory: URL {
        #if canImport(Darwin)
            let data = URL.applicationSupportDirectory
        #else
            let data = dataDirectory(
                environment: ProcessInfo.processInfo.environment,
                home: URL.homeDirectory
            )
        #endif
        return data.appending(path: "CodableSync/LocalDatabase", directoryHint: .isDirectory)
    }

    /// The user's data directory by the XDG rules.
    static func dataDirectory(environment: [String: String], home: URL) -> URL {
        // The rules say that a relative path is to be ignored.
        if let named = environment["XDG_DATA_HOME"], named.hasPrefix("/") {
            return URL(filePath: named, directoryHint: .isDirectory)
        }
        return home.appending(path: ".local/share", directoryHint: .isDirectory)
    }
}
