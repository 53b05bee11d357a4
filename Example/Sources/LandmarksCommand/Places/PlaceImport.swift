import CodableSync
import LandmarkModel

/// What became of the features of a file.
struct ImportTally: Equatable {
    var new = 0
    var changed = 0
    var unchanged = 0
    /// The features that were not imported.
    var faults: [FeatureFault] = []
}

/// Brings places to a device, in parts: each part is durable before the next one begins.
struct PlaceImport {
    let engine: SyncEngine<Landmark>
    /// Places in one part.
    var partSize = 500

    /// Imports places.
    ///
    /// - Parameters:
    ///   - collection: The file.
    ///   - progress: Is told how many features are done.
    /// - Returns: What became of the features.
    /// - Throws: `SyncError`; what was done before stays done.
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
        let models = try await engine.models(named: entries.map(\.recordName))
        let known = Dictionary(models.map { ($0.recordName, $0) }, uniquingKeysWith: { first, _ in first })
        let refused = try await upload(Self.changes(entries, known: known))
        for entry in entries {
            if let reason = refused[entry.recordName] {
                tally.faults.append(FeatureFault(index: entry.index, name: entry.place.name, reason: reason))
            } else if let landmark = known[entry.recordName] {
                let isUnchanged = entry.place.merged(onto: landmark) == landmark
                if isUnchanged { tally.unchanged += 1 } else { tally.changed += 1 }
            } else {
                tally.new += 1
            }
        }
    }

    /// The landmarks to upload: the new ones, and those of which the file says something else.
    static func changes(
        _ entries: [FeatureCollection.Entry],
        known: [String: Landmark]
    ) -> [Landmark] {
        entries.compactMap { entry in
            guard let landmark = known[entry.recordName] else {
                return entry.place.landmark(named: entry.recordName)
            }
            let merged = entry.place.merged(onto: landmark)
            return merged == landmark ? nil : merged
        }
    }

    /// Uploads landmarks; those that cannot be uploaded do not keep the others out.
    private func upload(_ landmarks: [Landmark]) async throws -> [String: String] {
        do {
            try await engine.upload(landmarks)
            return [:]
        } catch SyncError.invalidModels(let offenders) {
            let reasons = Dictionary(
                offenders.map { ($0.recordName, $0.reason) },
                uniquingKeysWith: { first, _ in first }
            )
            try await engine.upload(landmarks.filter { reasons[$0.recordName] == nil })
            return reasons
        }
    }
}
