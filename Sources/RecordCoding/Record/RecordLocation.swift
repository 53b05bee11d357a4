public import struct Foundation.Date

/// A location on the earth, with altitude, accuracy, course and speed.
///
/// The properties are those of Core Location's `CLLocation`, which CloudKit stores.
public struct RecordLocation: Hashable, Sendable, Codable {
    /// Degrees north of the equator, -90 to 90.
    public var latitude: Double
    /// Degrees east of Greenwich, -180 to 180.
    public var longitude: Double
    /// Metres above sea level.
    public var altitude: Double?
    /// The radius of uncertainty in metres.
    public var horizontalAccuracy: Double?
    /// The uncertainty of the altitude in metres.
    public var verticalAccuracy: Double?
    /// The direction of travel in degrees from north.
    public var course: Double?
    /// The speed of travel in metres per second.
    public var speed: Double?
    /// When the location was measured.
    public var timestamp: Date?

    /// Creates a location; omitted values were not measured.
    ///
    /// - Parameters:
    ///   - latitude: Degrees north, -90 to 90.
    ///   - longitude: Degrees east, -180 to 180.
    ///   - altitude: Metres above sea level.
    ///   - horizontalAccuracy: The radius of uncertainty in metres.
    ///   - verticalAccuracy: The uncertainty of the altitude in metres.
    ///   - course: The direction of travel in degrees from north.
    ///   - speed: The speed of travel in metres per second.
    ///   - timestamp: When the location was measured.
    public init(
        latitude: Double,
        longitude: Double,
        altitude: Double? = nil,
        horizontalAccuracy: Double? = nil,
        verticalAccuracy: Double? = nil,
        course: Double? = nil,
        speed: Double? = nil,
        timestamp: Date? = nil
    ) {
        self.latitude = latitude
        self.longitude = longitude
        self.altitude = altitude
        self.horizontalAccuracy = horizontalAccuracy
        self.verticalAccuracy = verticalAccuracy
        self.course = course
        self.speed = speed
        self.timestamp = timestamp
    }
}
