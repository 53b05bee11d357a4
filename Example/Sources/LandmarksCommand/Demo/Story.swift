import CodableSync
import Foundation
import LandmarkModel
import RecordCoding

/// The demo: a phone, a tablet, and a cloud between them.
struct Story {
    let phone: StoryDevice
    let tablet: StoryDevice
    let cloud: LocalDatabase
    let time: StoryTime
    let narrator: Narrator

    init(in directory: URL, narrator: Narrator) {
        let cloudDirectory = directory.appending(path: "cloud", directoryHint: .isDirectory)
        time = StoryTime()
        cloud = LocalDatabase(directory: cloudDirectory)
        phone = StoryDevice("phone", in: directory, cloud: cloudDirectory, time: time)
        tablet = StoryDevice("tablet", in: directory, cloud: cloudDirectory, time: time)
        self.narrator = narrator
    }

    func tell() async throws {
        try narrator.begins(
            "Two devices and one cloud",
            "A phone and a tablet of one user, each with a directory of its own; a third directory is the cloud."
        )
        try await fillTheDevices()
        try await editDifferentFields()
        try await editTheSameField()
        try await deleteWhatWasEdited()
        try await loseAResponse()
        try await compare()
    }

    func close() async throws {
        try await phone.engine.close()
        try await tablet.engine.close()
        await cloud.close()
    }

    // MARK: Chapters

    private func fillTheDevices() async throws {
        try narrator.chapter("Landmarks of the world")
        let collection = try FeatureCollection(WorldLandmarks.geoJSON)
        let tally = try await PlaceImport(engine: phone.engine).run(collection)
        try narrator.tells("phone", "imports \(tally.new) landmarks without a network: they are on its disk")
        let sent = try await phone.sync().summary
        try narrator.tells("phone", "syncs: \(sent)")
        let fetched = try await tablet.sync().summary
        try narrator.tells("tablet", "syncs: \(fetched)")
        let fuji = try await tablet.landmark("mount-fuji").names["ja"] ?? "?"
        let parthenon = try await tablet.landmark("parthenon").names["el"] ?? "?"
        let angkor = try await tablet.landmark("angkor-wat").names["km"] ?? "?"
        try narrator.tells("tablet", "now knows \(fuji), \(parthenon), \(angkor), …")
        try narrator.checks(
            "all \(collection.featureCount) arrived",
            tally.faults.isEmpty && sent.sent == collection.featureCount && fetched.fetched == sent.sent
        )
    }

    private func editDifferentFields() async throws {
        try narrator.chapter("Both edit one landmark offline, in different fields")
        try await edit(phone, "eiffel-tower", "writes the note “Go up at dusk.” on") {
            $0.note = "Go up at dusk."
        }
        try await edit(tablet, "eiffel-tower", "gives five stars to") { $0.rating = 5 }
        _ = try await sync(phone)
        _ = try await sync(tablet)
        _ = try await sync(phone)
        for device in [phone, tablet] {
            let tower = try await device.landmark("eiffel-tower")
            try narrator.tells(device.name, "shows \(tower.line.oneLine)")
            try narrator.checks(
                "both edits are on the \(device.name)",
                tower.note == "Go up at dusk." && tower.rating == 5
            )
        }
    }

    private func editTheSameField() async throws {
        try narrator.chapter("Both edit the same field: the later edit wins, whichever device syncs first")
        try await edit(phone, "taj-mahal", "notes “Closed on Fridays.” on") { $0.note = "Closed on Fridays." }
        try await edit(tablet, "taj-mahal", "notes “Come at sunrise.” on") { $0.note = "Come at sunrise." }
        try await settle(first: phone, second: tablet, "taj-mahal", winner: "Come at sunrise.")
        try await edit(tablet, "sydney-opera-house", "notes “Row 12.” on") { $0.note = "Row 12." }
        try await edit(phone, "sydney-opera-house", "notes “Row 7, on the aisle.” on") {
            $0.note = "Row 7, on the aisle."
        }
        try await settle(
            first: phone,
            second: tablet,
            "sydney-opera-house",
            winner: "Row 7, on the aisle."
        )
    }

    /// The first device syncs, the second one resolves the conflict, and the first one fetches the result.
    private func settle(
        first: StoryDevice,
        second: StoryDevice,
        _ name: String,
        winner: String
    ) async throws {
        _ = try await sync(first)
        let resolved = try await sync(second)
        _ = try await sync(first)
        let notes = try await [first.landmark(name).note, second.landmark(name).note]
        let conflict = resolved.first { $0.recordName == name }
        let other = [conflict?.here.note, conflict?.there.note].compactMap { $0 }.first { $0 != winner }
        try narrator.tells("both", "show “\(notes[0] ?? "")”; discarded and reported: “\(other ?? "")”")
        try narrator.checks(
            "the later note is on both devices, and the other one was reported",
            notes == [winner, winner] && other != nil
        )
    }

    private func deleteWhatWasEdited() async throws {
        try narrator.chapter("One deletes what the other has edited: the deletion wins, in both orders")
        try await edit(phone, "stonehenge", "notes “Bring a coat.” on") { $0.note = "Bring a coat." }
        try await remove(tablet, "stonehenge")
        _ = try await sync(tablet)
        _ = phone.takeEvents()
        try await settleDeletion("stonehenge", seenBy: phone)
        try await edit(tablet, "mount-rushmore", "notes “Four heads.” on") { $0.note = "Four heads." }
        try await remove(phone, "mount-rushmore")
        _ = try await sync(tablet)
        try await settleDeletion("mount-rushmore", seenBy: phone)
        _ = try await sync(tablet)
        for name in ["stonehenge", "mount-rushmore"] {
            let here = try await phone.engine.model(named: name)
            let there = try await tablet.engine.model(named: name)
            try narrator.checks("\(name) is gone from both devices", here == nil && there == nil)
        }
    }

    private func settleDeletion(_ name: String, seenBy device: StoryDevice) async throws {
        _ = device.takeEvents()
        let summary = try await device.engine.sync()
        try narrator.tells(device.name, "syncs: \(summary)")
        let lost = try device.takeEvents().compactMap { event -> Landmark? in
            switch event {
            case .editOfDeleted(name, let record, _), .discarded(name, let record, _):
                return try RecordDecoder().decode(Landmark.self, from: record)
            default: return nil
            }
        }
        let note = lost.first?.note
        try narrator.checks("the discarded edit was reported: “\(note ?? "")”", note != nil)
    }

    private func loseAResponse() async throws {
        try narrator.chapter("The connection breaks in the middle of an upload, and the phone restarts")
        let landmarks = try await phone.engine.allModels()
        time.passes(minutes: 10)
        try await phone.engine.edit(landmarks) { $0.isFavorite = true }
        try narrator.tells("phone", "\(time.text)  makes all \(landmarks.count) landmarks favorites")
        phone.line.loseResponse(ofSave: 2)
        do {
            let summary = try await phone.engine.sync()
            try narrator.tells("phone", "syncs: \(summary.pending) pending")
        } catch let error as SyncError where error.code == .cloud {
            let code = error.cloudError?.code.name ?? ""
            try narrator.tells("phone", "syncs, 25 in a request: \(code)")
        }
        let arrived = try await Comparison.landmarks(in: cloud).count { $0.isFavorite }
        let waiting = try await phone.engine.diagnostics().pendingCount
        try narrator.tells("cloud", "has \(arrived) of them")
        try narrator.tells("phone", "knows of \(landmarks.count - waiting), and is switched off and on")
        try narrator.checks(
            "the cloud has more than the phone knows",
            arrived > landmarks.count - waiting
        )
        try await phone.restart()
        phone.line.repair()
        let resolved = try await sync(phone)
        _ = try await sync(tablet)
        let favorites = try await tablet.engine.allModels().count { $0.isFavorite }
        try narrator.checks(
            "all \(landmarks.count) are favorites on the tablet, without a conflict",
            favorites == landmarks.count && resolved.isEmpty
        )
    }

    private func compare() async throws {
        try narrator.chapter("Compare record by record")
        let comparison = Comparison([
            ("phone", try await phone.engine.allModels()),
            ("tablet", try await tablet.engine.allModels()),
            ("cloud", try await Comparison.landmarks(in: cloud)),
        ])
        for difference in comparison.differences { try narrator.checks(difference, false) }
        let count = comparison.recordNames.count
        try narrator.checks(
            "\(count) records are the same on the phone, the tablet and the cloud",
            comparison.differences.isEmpty && count > 0
        )
        for device in [phone, tablet] {
            let diagnostics = try await device.engine.diagnostics()
            try narrator.checks(
                "nothing is pending or parked on the \(device.name)",
                diagnostics.pendingCount == 0 && diagnostics.parkedCount == 0
            )
        }
    }

    // MARK: Steps

    private func edit(
        _ device: StoryDevice,
        _ name: String,
        _ deed: String,
        _ change: (inout Landmark) -> Void
    ) async throws {
        time.passes(minutes: 5)
        try await device.edit(name, change)
        try narrator.tells(device.name, "\(time.text)  \(deed) \(name)")
    }

    private func remove(_ device: StoryDevice, _ name: String) async throws {
        time.passes(minutes: 5)
        try await device.engine.delete(named: [name])
        try narrator.tells(device.name, "\(time.text)  removes \(name)")
    }

    private func sync(_ device: StoryDevice) async throws -> [StoryDevice.Resolved] {
        let (summary, resolved) = try await device.sync()
        try narrator.tells(device.name, "syncs: \(summary)")
        return resolved
    }
}
