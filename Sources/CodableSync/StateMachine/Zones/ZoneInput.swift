/// Responses about the zone.
package enum ZoneInput: Equatable, Sendable {
    case saved(RequestID, CloudError?)
    case databaseChanged(RequestID, Result<ZoneFate, CloudError>)
}
