import CodableSync
import Foundation
import LandmarkModel

/// The status of a device, as `status` prints it.
struct StatusReport: Encodable, Equatable {
    struct Pending: Encodable, Equatable {
        var recordName: String
        var change: String
        var reason: String
        var edited: Date?
    }

    struct Parked: Encodable, Equatable {
        var recordName: String
        var reason: String
        var message: String
    }

    var device: String
    var state: String
    var cloud: String
    /// The user whose state this is; `nil` before the first sync.
    var account: String?
    /// The number of landmarks on this device, as `list` prints them.
    var landmarks: Int
    /// How many records the cloud is known to have.
    var known: Int
    var pending: [Pending]
    var parked: [Parked]
    var lastSync: Date?

    init(
        device: Device,
        diagnostics: SyncDiagnostics,
        pending: [PendingChange<Landmark>],
        landmarks: Int
    ) {
        self.device = device.name
        self.landmarks = landmarks
        state = diagnostics.stateDirectory ?? device.stateDirectory(for: diagnostics.cloud).path
        cloud = device.cloud.place
        account = diagnostics.userRecordName
        known = diagnostics.knownCount
        lastSync = diagnostics.lastFetch
        self.pending = pending.compactMap(Pending.init)
        parked = pending.compactMap { change in
            change.parkReason.map {
                Parked(recordName: change.recordName, reason: $0.kind.rawValue, message: $0.message)
            }
        }
    }

    private enum CodingKeys: CodingKey {
        case device, state, cloud, account, landmarks, known, pending, parked, lastSync
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(device, forKey: .device)
        try container.encode(state, forKey: .state)
        try container.encode(cloud, forKey: .cloud)
        try container.encode(account, forKey: .account)
        try container.encode(landmarks, forKey: .landmarks)
        try container.encode(known, forKey: .known)
        try container.encode(pending, forKey: .pending)
        try container.encode(parked, forKey: .parked)
        try container.encode(lastSync, forKey: .lastSync)
    }

    /// The report for people.
    var text: String {
        var lines = [
            "device     \(device.shown)",
            "state      \(state.shown)",
            "cloud      \(cloud.shown)",
            "account    \(account?.shown ?? "unknown before the first sync")",
            "landmarks  \(landmarks), \(known) of them in the cloud",
            "last sync  \(lastSync.map { $0.formatted(.iso8601) } ?? "never")",
            "pending    \(pending.isEmpty ? "0: \(EmptyList.pending)" : "\(pending.count)")",
        ]
        lines += Self.listed(pending.map { "\($0.recordName.shown)  \($0.change): \($0.reason)" })
        lines.append("parked     \(parked.isEmpty ? "0: \(EmptyList.parked)" : "\(parked.count)")")
        lines += Self.listed(parked.map { "\($0.recordName.shown)  \($0.reason): \($0.message.oneLine)" })
        return lines.joined(separator: "\n") + "\n"
    }

    private static func listed(_ lines: [String]) -> [String] {
        let shown = lines.prefix(10).map { "           " + $0 }
        return lines.count > 10 ? shown + ["           and \(lines.count - 10) more"] : shown
    }
}

extension StatusReport.Pending {
    /// `nil` for a parked change, which has a list of its own.
    init?(_ change: PendingChange<Landmark>) {
        switch change.stage {
        case .queued: reason = "waiting for the next sync"
        case .inFlight: reason = "being sent; the next sync finds out whether it arrived"
        case .inConflict: reason = "also changed on another device; the next sync resolves the conflict"
        case .parked: return nil
        @unknown default: reason = "waiting"
        }
        recordName = change.recordName
        self.change = change.isDeletion ? "deletion" : "edit"
        edited = change.edited
    }
}
