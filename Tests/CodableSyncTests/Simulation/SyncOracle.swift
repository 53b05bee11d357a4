/// A second, minimal implementation of sync without faults, to compare results with.
///
/// A record is a set of stamps, a conflict keeps both sides, and deletions win.
struct SyncOracle {
    struct Version: Equatable {
        var number: Int
        var stamps: Set<String>
    }

    private enum Pending {
        case save(Set<String>)
        case delete
    }

    private struct Device {
        var known: [String: Version] = [:]
        var pending: [String: Pending] = [:]
    }

    private(set) var server: [String: Version] = [:]
    private var devices: [Device]
    private var lastNumber = 0

    init(devices: Int) {
        self.devices = Array(repeating: Device(), count: devices)
    }

    /// The records that a device shows.
    func models(on device: Int) -> [String: Set<String>] {
        var models = devices[device].known.mapValues(\.stamps)
        for (name, pending) in devices[device].pending {
            switch pending {
            case .save(let stamps): models[name] = stamps
            case .delete: models[name] = nil
            }
        }
        return models
    }

    mutating func upload(_ name: String, _ stamps: Set<String>, on device: Int) {
        devices[device].pending[name] = .save(stamps)
    }

    mutating func delete(_ name: String, on device: Int) {
        devices[device].pending[name] = .delete
    }

    mutating func sync(_ device: Int) {
        for (name, pending) in devices[device].pending {
            switch pending {
            case .delete: server[name] = nil
            case .save(let stamps): save(name, stamps, on: device)
            }
        }
        devices[device].pending = [:]
        devices[device].known = server
    }

    private mutating func save(_ name: String, _ stamps: Set<String>, on device: Int) {
        let known = devices[device].known[name]
        var stamps = stamps
        if let theirs = server[name] {
            if theirs.number != known?.number { stamps.formUnion(theirs.stamps) }
            if theirs.stamps == stamps { return }
        } else if known != nil {
            return  // Deleted by another device: deletions win.
        }
        lastNumber += 1
        server[name] = Version(number: lastNumber, stamps: stamps)
    }
}
