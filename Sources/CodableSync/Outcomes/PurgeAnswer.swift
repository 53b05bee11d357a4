/// What to do with the app's data after the user removed it from the cloud.
public enum PurgeAnswer: Hashable, Sendable {
    /// Uploads everything on this device to a new zone: records that the cloud had, and edits that it never
    /// had. Records that the app has deleted since stay deleted.
    case uploadAgain
    /// Removes the records that the cloud had from this device, and delivers them as `.deleted`.
    ///
    /// The engine keeps edits that the cloud never received and uploads them to a new zone, including edits
    /// of records that the cloud had and edits made since the purge. To drop them too, call `discard` first.
    case removeLocal
}
