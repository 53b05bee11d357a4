import Foundation

/// The landmarks that come with the command.
enum WorldLandmarks {
    /// The file, embedded in the program.
    static var geoJSON: Data { Data(PackageResources.landmarks_geojson) }
}
