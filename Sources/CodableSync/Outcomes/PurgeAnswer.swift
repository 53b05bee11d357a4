/// What happens to the app's data after the user removed it from the cloud.
public enum PurgeAnswer: Hashable, Sendable {
    /// Uploads everything on this device into a new zone: what the cloud had, and edits that it never had.
    /// Records that the app has deleted since are not uploaded.
    case uploadAgain
    /// Removes everything that the cloud had from this device, and delivers it as `.deleted`.
    ///
    /// Edits that the cloud never had are kept and uploaded into a new zone, including edits of records that
    /// the cloud had and edits made since the purge. To drop them as well, call `discard` first.
    case removeLocal
}
