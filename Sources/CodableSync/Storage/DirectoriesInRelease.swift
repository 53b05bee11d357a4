import Dispatch

/// The directories in this process whose engines were released and whose files are still being written and
/// closed.
///
/// Releasing an engine doesn't wait for the disk. So the next opening of the directory waits here instead of
/// failing because the directory is in use.
final class DirectoriesInRelease: Sendable {
    /// A directory on a file system.
    struct Place: Hashable, Sendable {
        private let fileSystem: ObjectIdentifier?
        private let path: String

        init(_ path: String, on fileSystem: any FileSystem) {
            let isObject = type(of: fileSystem) is AnyClass
            self.fileSystem = isObject ? ObjectIdentifier(fileSystem as AnyObject) : nil
            self.path = isObject ? path : LocalFileSystem.canonicalPath(of: path)
        }
    }

    static let shared = DirectoriesInRelease()

    private struct Release {
        let group = DispatchGroup()
        var count = 0
    }

    private let releases = Locked<[Place: Release]>([:])

    /// Notes that a directory is being released.
    func begin(_ place: Place) {
        releases.withLock { releases in
            releases[place, default: Release()].count += 1
            releases[place]?.group.enter()
        }
    }

    /// Notes that a directory has been released.
    func end(_ place: Place) {
        releases.withLock { releases in
            guard var release = releases[place] else { return }
            release.count -= 1
            releases[place] = release.count > 0 ? release : nil
            release.group.leave()
        }
    }

    /// Blocks while the directory is being released.
    ///
    /// - Parameters:
    ///   - place: The directory.
    ///   - timeout: The maximum time to block.
    /// - Returns: Whether the directory is released.
    func wait(for place: Place, atMost timeout: DispatchTimeInterval) -> Bool {
        guard let group = releases.withLock({ $0[place]?.group }) else { return true }
        return group.wait(atMost: timeout)
    }
}
