import Foundation

/// Notices that a state's directory was moved away or replaced while the command uses it.
///
/// The engine goes on in the moved files, but the next command begins another state at the path.
struct StateWatch {
    private let directory: URL
    private let identity: Identity?

    init(_ directory: URL) {
        self.directory = directory
        identity = Identity(at: directory)
    }

    /// Whether the directory is still the one at the path.
    var isInPlace: Bool { Identity(at: directory) == identity }

    /// Returns once the directory is no longer at its path.
    ///
    /// - Throws: ``Failure``; `CancellationError` if the task is cancelled.
    func wait() async throws {
        while isInPlace { try await Task.sleep(for: .milliseconds(500)) }
        throw Failure(
            .inputOutput,
            "the state of this device was moved away from '\(directory.path.shown)' or removed. Move it back, or run the "
                + "command again to begin another one"
        )
    }

    private struct Identity: Equatable {
        var device: UInt64
        var number: UInt64

        init?(at url: URL) {
            var status = stat()
            guard stat(url.path, &status) == 0 else { return nil }
            device = UInt64(truncatingIfNeeded: status.st_dev)
            number = UInt64(status.st_ino)
        }
    }
}
