public import struct Foundation.URL

extension LocalDatabase {
    /// Where ``CloudDatabase/local`` keeps its files.
    ///
    /// On Apple systems that is Application Support; elsewhere `$XDG_DATA_HOME`, or `~/.local/share` where the
    /// variable is missing or is not an absolute path; `~` is `$HOME`.
    public static var defaultDirectory: URL {
        URL(filePath: DataDirectory.path, directoryHint: .isDirectory)
            .appending(path: "CodableSync/LocalDatabase", directoryHint: .isDirectory)
    }
}
