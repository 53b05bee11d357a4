/// Responses about the zone.
package enum ZoneInput: Equatable, Sendable {
    case saved(RequestID, CloudError?)
    case databaseChanged(RequestID, Result<ZoneFate, CloudError>)

    var request: RequestID {
        switch self {
        case .saved(let request, _), .databaseChanged(let request, _): request
        }
    }
}
