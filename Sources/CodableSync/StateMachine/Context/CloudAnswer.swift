/// The response to a request: what the cloud answers, or why the request failed as a whole.
package typealias CloudResult = Result<CloudAnswer, CloudError>

/// What the cloud answers to a request.
package enum CloudAnswer: Equatable, Sendable {
    case account(CloudAccount)
    case zoneSaved
    case databaseChanges(ZoneFate)
    /// The subscription was created, or deleted.
    case subscriptionModified
    case page(FetchedPage)
    case records([LookedUp])
    case sendResults([SendResult])
}
