/// A lock on a file, held until it is released.
package protocol FileLock: AnyObject, Sendable {
    /// Gives the lock up; a second call does nothing.
    func release()
}

/// What became of an attempt to lock a file.
package enum LockOutcome: Sendable {
    /// The lock is ours.
    case acquired(any FileLock)
    /// Somebody else has it; the process id as the file names it, if it does.
    case held(processID: Int?)
}
