/// A lock on a file, held until its release.
package protocol FileLock: AnyObject, Sendable {
    /// Releases the lock; a second call has no effect.
    func release()
}

/// The result of an attempt to lock a file.
package enum LockOutcome: Sendable {
    /// The lock was taken.
    case acquired(any FileLock)
    /// Another owner holds the lock; carries the process ID in the file, if there is one.
    case held(processID: Int?)
}
