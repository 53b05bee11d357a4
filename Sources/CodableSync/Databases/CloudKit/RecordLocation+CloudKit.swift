#if canImport(CloudKit)
    import CoreLocation
    import Foundation
    import RecordCoding

    // Core Location has no absent values: each has a value that means "not measured".

    extension RecordLocation {
        /// Converts a location; values that mean "not measured" become `nil`.
        init(_ location: CLLocation) {
            let isAltitudeMeasured = location.verticalAccuracy >= 0 || location.altitude != 0
            self.init(
                latitude: location.coordinate.latitude,
                longitude: location.coordinate.longitude,
                altitude: isAltitudeMeasured ? location.altitude : nil,
                horizontalAccuracy: location.horizontalAccuracy > 0 ? location.horizontalAccuracy : nil,
                verticalAccuracy: location.verticalAccuracy >= 0 ? location.verticalAccuracy : nil,
                course: location.course >= 0 ? location.course : nil,
                speed: location.speed >= 0 ? location.speed : nil,
                timestamp: location.timestamp == CLLocation.noTimestamp ? nil : location.timestamp
            )
        }
    }

    extension CLLocation {
        /// The timestamp of a location without one.
        fileprivate static let noTimestamp = Date(timeIntervalSince1970: 0)

        /// Converts a location; absent values become those of `CLLocation(latitude:longitude:)`, except that the
        /// timestamp is the beginning of 1970.
        convenience init(_ location: RecordLocation) {
            self.init(
                coordinate: CLLocationCoordinate2D(
                    latitude: location.latitude,
                    longitude: location.longitude
                ),
                altitude: location.altitude ?? 0,
                horizontalAccuracy: location.horizontalAccuracy ?? 0,
                verticalAccuracy: location.verticalAccuracy ?? -1,
                course: location.course ?? -1,
                speed: location.speed ?? -1,
                timestamp: location.timestamp?.rounded ?? CLLocation.noTimestamp
            )
        }
    }
#endif
