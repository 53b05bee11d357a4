import Foundation

/// The landmarks that come with the command.
enum WorldLandmarks {
    /// The file, which is compiled in: the program needs nothing beside it.
    static var geoJSON: Data { Data(PackageResources.landmarks_geojson) }
}
