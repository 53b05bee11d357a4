import Foundation

/// The directory in which a user's programs keep their data.
package enum DataDirectory {
    /// Application Support on Apple systems, and Caches on tvOS; elsewhere the data directory according to the
    /// XDG specification.
    package static var path: String {
        #if os(tvOS)
            // An Apple TV lets apps write only to directories that it may empty while they don't run. The
            // simulator lets them write to Application Support as well.
            return URL.cachesDirectory.path(percentEncoded: false).withoutTrailingSlash
        #elseif canImport(Darwin)
            return URL.applicationSupportDirectory.path(percentEncoded: false).withoutTrailingSlash
        #else
            return path(environment: ProcessInfo.processInfo.environment, userHome: NSHomeDirectory())
        #endif
    }

    /// `$XDG_DATA_HOME`, else `~/.local/share`.
    ///
    /// As in a shell, `~` is `$HOME`; a process without `$HOME` uses the home directory that the system has
    /// for the user. According to the specification, relative paths are ignored.
    static func path(environment: [String: String], userHome: String) -> String {
        func absolute(_ name: String) -> String? {
            environment[name].flatMap { $0.hasPrefix("/") ? $0.withoutTrailingSlash : nil }
        }
        return absolute("XDG_DATA_HOME")
            ?? (absolute("HOME") ?? userHome).withoutTrailingSlash.appending(path: ".local/share")
    }
}
