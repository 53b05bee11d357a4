import CodableSync
import CodingWork
import Foundation
import GRDB
import RowModels

/// Opening 20 000 models, up to the first that is read.
extension EngineWork {
    static let opening = [
        EngineWork("open-20000-and-read-one", by: .codableSync, repeats: 1) { stopwatch in
            let many = try await ManyLandmarks()
            let name = try FlatLandmark.numbered(13_333).recordName
            stopwatch.start()
            let engine = many.makeEngine()
            let landmark = try await engine.model(named: name)
            stopwatch.stop()
            try expect(landmark?.visits ?? 0, 13_333)
            try await engine.close()
        },
        EngineWork("open-20000-and-read-one", by: .grdb, repeats: 1) { stopwatch in
            let many = try await ManyLandmarks()
            let name = try FlatLandmark.numbered(13_333).id.uuidString
            stopwatch.start()
            let pool = try many.makePool()
            let landmark = try await pool.read { try FlatLandmark.fetchOne($0, key: name) }
            stopwatch.stop()
            try expect(landmark?.visits ?? 0, 13_333)
            try pool.close()
        },
        EngineWork("open-20000-and-read-all", by: .codableSync, repeats: 1) { stopwatch in
            let many = try await ManyLandmarks()
            stopwatch.start()
            let engine = many.makeEngine()
            let landmarks = try await engine.allModels()
            stopwatch.stop()
            try expect(landmarks.count, ManyLandmarks.count)
            try await engine.close()
        },
        EngineWork("open-20000-and-read-all", by: .grdb, repeats: 1) { stopwatch in
            let many = try await ManyLandmarks()
            stopwatch.start()
            let pool = try many.makePool()
            let landmarks = try await pool.read { try FlatLandmark.fetchAll($0) }
            stopwatch.stop()
            try expect(landmarks.count, ManyLandmarks.count)
            try pool.close()
        },
    ]
}
