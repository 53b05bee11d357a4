public import struct Foundation.URL

extension LocalDatabase {
    /// Where ``CloudDatabase/local`` keeps its files.
    ///
    /// On Apple systems, this is Application Support, and on tvOS Caches, which the system may empty; elsewhere
    /// `$XDG_DATA_HOME`, or `~/.local/share` if the variable is missing or not an absolute path; `~` is `$HOME`.
    public static var defaultDirectory: URL {
        URL(filePath: DataDirectory.path, directoryHint: .isDirectory)
            .appending(path: "CodableSync/LocalDatabase", directoryHint: .isDirectory)
    }
}
