import CodableSync
import CodingWork
import Foundation

/// What an engine does with a cloud in the same process, beside one pass of Foundation's coders over the same models.
extension EngineWork {
    private static let count = 10_000

    static let syncing = [
        EngineWork("sync-10000", by: .codableSync, repeats: count) { stopwatch in
            let folder = try Folder()
            let engine = makeEngine(in: folder.url, FakeCloud().database(), .flushed)
            try await engine.upload((0..<count).map(FlatLandmark.numbered))
            stopwatch.start()
            try await engine.sync()
            stopwatch.stop()
            try await engine.close()
        },
        EngineWork("sync-10000", by: .json, repeats: count) { stopwatch in
            let landmarks = try (0..<count).map(FlatLandmark.numbered)
            let encoder = JSONEncoder()
            var size = 0
            stopwatch.start()
            for landmark in landmarks { size += try encoder.encode(landmark).count }
            stopwatch.stop()
            try expect(size.signum(), 1)
        },
        EngineWork("fetch-and-deliver-10000", by: .codableSync, repeats: count) { stopwatch in
            let (folder, other) = (try Folder(), try Folder())
            let cloud = FakeCloud()
            let first = makeEngine(in: other.url, cloud.database(), .written)
            try await first.upload((0..<count).map(FlatLandmark.numbered))
            try await first.sync()
            try await first.close()
            let engine = makeEngine(in: folder.url, cloud.database(), .flushed)
            let changes = engine.changes
            stopwatch.start()
            let delivered = Task {
                var delivered = 0
                for await change in changes {
                    if case .updated(let models) = change { delivered += models.count }
                    if delivered >= count { break }
                }
                return delivered
            }
            try await engine.sync()
            let found = await delivered.value
            stopwatch.stop()
            try expect(found, count)
            try await engine.close()
        },
        EngineWork("fetch-and-deliver-10000", by: .json, repeats: count) { stopwatch in
            let encoder = JSONEncoder()
            let lines = try (0..<count).map { try encoder.encode(FlatLandmark.numbered($0)) }
            let decoder = JSONDecoder()
            var visits = 0
            stopwatch.start()
            for line in lines { visits += try decoder.decode(FlatLandmark.self, from: line).visits }
            stopwatch.stop()
            try expect(visits, count * (count - 1) / 2)
        },
    ]
}
