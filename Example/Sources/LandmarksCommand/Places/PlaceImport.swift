import CodableSync
import LandmarkModel

/// The result of importing a file.
struct ImportTally: Equatable {
    var new = 0
    var changed = 0
    var unchanged = 0
    /// The features that were not imported.
    var faults: [FeatureFault] = []
}

/// Imports places in parts; each part is durable before the next one starts.
struct PlaceImport {
    let engine: SyncEngine<Landmark>
    /// The number of places in one part.
    var partSize = 500

    /// Imports places.
    ///
    /// - Parameters:
    ///   - collection: The file.
    ///   - progress: Called with the number of features done.
    /// - Returns: The result for all features.
    /// - Throws: `SyncError`; earlier parts stay imported.
    func run(_ collection: FeatureCollection, progress: (Int) -> Void = { _ in }) async throws -> ImportTally
    {
        var tally = ImportTally(faults: collection.faults)
        var rest = collection.entries[...]
        while !rest.isEmpty {
            let part = rest.prefix(partSize)
            rest = rest.dropFirst(partSize)
            try await add(Array(part), to: &tally)
            progress(collection.entries.count - rest.count)
        }
        tally.faults.sort { $0.index < $1.index }
        return tally
    }

    private func add(_ entries: [FeatureCollection.Entry], to tally: inout ImportTally) async throws {
        let places = Dictionary(entries.map { ($0.recordName, $0.place) }, uniquingKeysWith: { $1 })
        let known = try await engine.models(named: entries.map(\.recordName))
        let knownNames = Set(known.map(\.recordName))
        let new = entries.filter { !knownNames.contains($0.recordName) }
        let changed = known.filter { places[$0.recordName]?.merged(onto: $0) != $0 }
        let changedNames = Set(changed.map(\.recordName))

        var refused: [String: String] = [:]
        try await leavingOutRefused(new.map { $0.place.landmark(named: $0.recordName) }, &refused) {
            try await engine.upload($0)
        }
        try await leavingOutRefused(changed, &refused) {
            try await engine.edit($0) { landmark in
                if let place = places[landmark.recordName] { landmark = place.merged(onto: landmark) }
            }
        }
        for entry in entries {
            if let reason = refused[entry.recordName] {
                tally.faults.append(FeatureFault(index: entry.index, name: entry.place.name, reason: reason))
            } else if changedNames.contains(entry.recordName) {
                tally.changed += 1
            } else if knownNames.contains(entry.recordName) {
                tally.unchanged += 1
            } else {
                tally.new += 1
            }
        }
    }

    /// Makes a call with landmarks, and repeats it without the refused ones, so that they don't block the others.
    private func leavingOutRefused(
        _ landmarks: [Landmark],
        _ refused: inout [String: String],
        _ call: ([Landmark]) async throws -> Void
    ) async throws {
        do {
            try await call(landmarks)
        } catch let error as SyncError where error.code == .invalidModels && landmarks.count > 1 {
            let names = Set(error.recordNames)
            // Each refused landmark alone, to get its own reason.
            for landmark in landmarks where names.contains(landmark.recordName) {
                do {
                    try await call([landmark])
                } catch let error as SyncError where error.code == .invalidModels {
                    refused[landmark.recordName] = error.message
                }
            }
            try await call(landmarks.filter { !names.contains($0.recordName) })
        } catch let error as SyncError where error.code == .invalidModels {
            for name in error.recordNames { refused[name] = error.message }
        }
    }
}
