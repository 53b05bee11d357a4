/// The latest change of a record that streams of `changes` tell, or have told.
///
/// Its number is its place: a stream accepts all changes up to one. A record that changes again gets a new number.
package struct RecordNews: Equatable, Sendable {
    /// Increases with every change of any record.
    package var number: UInt64
    /// Whether it is a save of this device, which the cloud has confirmed.
    package var isSaved: Bool
    /// Whether the app could not decode it, so that it is tried again after the next opening.
    package var isUndecodable = false

    package init(_ number: UInt64, isSaved: Bool = false) {
        self.number = number
        self.isSaved = isSaved
    }
}

extension RecordState {
    /// Tells the latest version that this app can read, or its absence.
    ///
    /// - Parameters:
    ///   - news: The number, if anybody is told.
    ///   - base: The version that the cloud had before, on which an upload is based until the app knows of a deletion;
    ///     `nil` if it cannot be an ancestor.
    mutating func tellServerValue(_ news: RecordNews?, over base: ContentHandle? = nil) {
        if lastKnown == nil { server = .deleted(base) }
        self.news = news
    }

    /// Tells nothing of what has happened so far: an own change is newer.
    mutating func tellNothing() {
        server.endDeletion()
        news = nil
    }

    /// Whether the app does not know that the record was deleted, although a newer version of the app may have created it
    /// again.
    var isDeletionNews: Bool { news?.isSaved == false && shown == nil && pending?.isDeletion != true }

    /// Whether a conflict made the edit that reads show, or it was made on what another device did, and the app does not
    /// know yet.
    var isPendingNews: Bool {
        guard let news, !news.isSaved, isPendingOnTop else { return false }
        return pending?.isDeletion == false
    }
}

/// Numbers of changes.
extension SyncState {
    /// The number of the next change; `nil` if no stream of `changes` ever made a request.
    mutating func nextNews() -> RecordNews? {
        guard summary.isFollowed else { return nil }
        changeSummary { $0.lastNumber &+= 1 }
        return RecordNews(summary.lastNumber)
    }

    /// The number of changes that streams of `changes` have yet to tell.
    var untoldCount: Int { untold.count }

    /// A record's latest change, unless all streams of `changes` have told it.
    package func untoldNews(of key: RecordKey) -> RecordNews? { self[key]?.news(above: streams.accepted) }
}

extension RecordState {
    /// The latest change, unless all changes up to a number have been told.
    func news(above accepted: UInt64) -> RecordNews? {
        guard let news, news.number > accepted || news.isUndecodable else { return nil }
        return news
    }
}
