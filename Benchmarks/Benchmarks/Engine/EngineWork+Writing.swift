import CodableSync
import CodingWork
import Foundation
import GRDB
import RowModels

/// What an app writes and reads back.
extension EngineWork {
    static let writing =
        [
            uploadOne("upload-one-written", .written, repeats: 1000),
            insertOne("upload-one-written", isFlushed: false, repeats: 1000),
            uploadOne("upload-one-flushed", .flushed, repeats: 200),
            insertOne("upload-one-flushed", isFlushed: true, repeats: 200),
        ] + editing + reading + many

    private static func uploadOne(
        _ action: String,
        _ durability: SyncConfiguration.Durability,
        repeats: Int
    ) -> EngineWork {
        EngineWork(action, by: .codableSync, repeats: repeats) { stopwatch in
            let folder = try Folder()
            let landmarks = try (0..<repeats).map(FlatLandmark.numbered)
            let engine = makeEngine(in: folder.url, FakeCloud().database(), durability)
            try await engine.upload(try .sample())
            stopwatch.start()
            for landmark in landmarks { try await engine.upload(landmark) }
            stopwatch.stop()
            try await engine.close()
        }
    }

    private static func insertOne(_ action: String, isFlushed: Bool, repeats: Int) -> EngineWork {
        EngineWork(action, by: .grdb, repeats: repeats) { stopwatch in
            let folder = try Folder()
            let landmarks = try (0..<repeats).map(FlatLandmark.numbered)
            let pool = try makePool(in: folder.url, isFlushed: isFlushed)
            stopwatch.start()
            for landmark in landmarks { try await pool.write { try landmark.insert($0) } }
            stopwatch.stop()
            try pool.close()
        }
    }

    private static let editing = [
        EngineWork("edit-one-written", by: .codableSync, repeats: 1000) { stopwatch in
            let folder = try Folder()
            let landmarks = try (0..<1000).map(FlatLandmark.numbered)
            let engine = makeEngine(in: folder.url, FakeCloud().database(), .written)
            try await engine.upload(landmarks)
            stopwatch.start()
            for landmark in landmarks { try await engine.edit(landmark) { $0.visits += 1 } }
            stopwatch.stop()
            try await engine.close()
        },
        EngineWork("edit-one-written", by: .grdb, repeats: 1000) { stopwatch in
            let folder = try Folder()
            let landmarks = try (0..<1000).map(FlatLandmark.numbered)
            let pool = try makePool(in: folder.url, isFlushed: false)
            try await pool.write { database in for landmark in landmarks { try landmark.insert(database) } }
            let names = landmarks.map(\.id.uuidString)
            stopwatch.start()
            for name in names {
                try await pool.write { database in
                    guard var landmark = try FlatLandmark.fetchOne(database, key: name) else { return }
                    landmark.visits += 1
                    try landmark.update(database)
                }
            }
            stopwatch.stop()
            try pool.close()
        },
    ]

    private static let reading = [
        EngineWork("read-one", by: .codableSync, repeats: 1000) { stopwatch in
            let folder = try Folder()
            let landmarks = try (0..<1000).map(FlatLandmark.numbered)
            let engine = makeEngine(in: folder.url, FakeCloud().database(), .written)
            try await engine.upload(landmarks)
            let names = landmarks.map(\.recordName)
            var found = 0
            stopwatch.start()
            for name in names where try await engine.model(named: name) != nil { found += 1 }
            stopwatch.stop()
            try expect(found, 1000)
            try await engine.close()
        },
        EngineWork("read-one", by: .grdb, repeats: 1000) { stopwatch in
            let folder = try Folder()
            let landmarks = try (0..<1000).map(FlatLandmark.numbered)
            let pool = try makePool(in: folder.url, isFlushed: false)
            try await pool.write { database in for landmark in landmarks { try landmark.insert(database) } }
            let names = landmarks.map(\.id.uuidString)
            var found = 0
            stopwatch.start()
            for name in names {
                let landmark = try await pool.read { try FlatLandmark.fetchOne($0, key: name) }
                if landmark != nil { found += 1 }
            }
            stopwatch.stop()
            try expect(found, 1000)
            try pool.close()
        },
    ]

    private static let many = [
        EngineWork("upload-by-100-callers-flushed", by: .codableSync, repeats: 1000) { stopwatch in
            let folder = try Folder()
            let landmarks = try (0..<1000).map(FlatLandmark.numbered)
            let engine = makeEngine(in: folder.url, FakeCloud().database(), .flushed)
            try await engine.upload(try .sample())
            stopwatch.start()
            try await callers(landmarks) { try await engine.upload($0) }
            stopwatch.stop()
            try await engine.close()
        },
        EngineWork("upload-by-100-callers-flushed", by: .grdb, repeats: 1000) { stopwatch in
            let folder = try Folder()
            let landmarks = try (0..<1000).map(FlatLandmark.numbered)
            let pool = try makePool(in: folder.url, isFlushed: true)
            stopwatch.start()
            try await callers(landmarks) { landmark in
                try await pool.write { try landmark.insert($0) }
            }
            stopwatch.stop()
            try pool.close()
        },
        EngineWork("upload-10000-at-once", by: .codableSync, repeats: 10_000) { stopwatch in
            let folder = try Folder()
            let landmarks = try (0..<10_000).map(FlatLandmark.numbered)
            let engine = makeEngine(in: folder.url, FakeCloud().database(), .flushed)
            try await engine.upload(try .sample())
            stopwatch.start()
            try await engine.upload(landmarks)
            stopwatch.stop()
            try await engine.close()
        },
        EngineWork("upload-10000-at-once", by: .grdb, repeats: 10_000) { stopwatch in
            let folder = try Folder()
            let landmarks = try (0..<10_000).map(FlatLandmark.numbered)
            let pool = try makePool(in: folder.url, isFlushed: true)
            stopwatch.start()
            try await pool.write { database in for landmark in landmarks { try landmark.insert(database) } }
            stopwatch.stop()
            try pool.close()
        },
    ]

    /// Ten times, a hundred callers at once.
    private static func callers(
        _ landmarks: [FlatLandmark],
        _ call: @escaping @Sendable (FlatLandmark) async throws -> Void
    ) async throws {
        for start in stride(from: 0, to: landmarks.count, by: 100) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for landmark in landmarks[start..<start + 100] { group.addTask { try await call(landmark) } }
                try await group.waitForAll()
            }
        }
    }
}

/// A work did not do what it was to.
struct WrongResult: Error {
    let found: Int
    let expected: Int
}

func expect(_ found: Int, _ expected: Int) throws {
    if found != expected { throw WrongResult(found: found, expected: expected) }
}
