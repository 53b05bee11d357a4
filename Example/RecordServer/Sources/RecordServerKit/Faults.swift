@_spi(Server) import CodableSync
import Foundation

/// The faults that are switched on, for rehearsals.
///
/// An actor, since requests take faults while the administrator switches them.
actor Faults {
    /// What happens to a request.
    enum Kind: Sendable {
        /// It is answered with this instead.
        case answer(RecordService.Answer)
        /// The connection is closed before the request is carried out.
        case lostRequest
        /// The connection is closed after the request was carried out.
        case lostAnswer
        /// The connection is closed in the middle of the answer.
        case cutAnswer
        /// The answer comes so much later.
        case slowAnswer(Duration)
    }

    /// A fault that is switched on.
    struct Fault: Sendable {
        /// What the administrator calls it.
        let name: String
        let kind: Kind
        /// The only user who meets it; `nil` for everybody.
        var user: String?
        /// The only zone whose requests meet it; `nil` for all requests to databases.
        var zone: String?
        /// The only operation that meets it, such as `records/modify`; `nil` for all.
        var operation: String?
        /// How many requests meet it; `nil` until it is switched off.
        var count: Int?
    }

    /// The most faults at a time.
    static let maximumCount = 1000

    private var faults: [(id: Int, fault: Fault)] = []
    private var lastID = 0

    /// The faults that are switched on, in order, with the numbers by which they are switched off.
    var all: [(id: Int, fault: Fault)] { faults }

    /// Whether requests must say which zones they are about.
    var areAboutZones: Bool { faults.contains { $0.fault.zone != nil } }

    /// Switches a fault on, behind those that are on already.
    ///
    /// - Parameter fault: The fault.
    /// - Returns: Its number; `nil` if there are too many.
    func switchOn(_ fault: Fault) -> Int? {
        guard faults.count < Self.maximumCount else { return nil }
        lastID += 1
        faults.append((lastID, fault))
        return lastID
    }

    /// Switches a fault off, or all.
    ///
    /// - Parameter id: Its number; `nil` for all.
    /// - Returns: Whether there was one.
    func switchOff(_ id: Int?) -> Bool {
        let count = faults.count
        faults.removeAll { id == nil || $0.id == id }
        return faults.count < count
    }

    /// Takes the first fault that a request meets.
    ///
    /// - Parameters:
    ///   - user: Whose request it is.
    ///   - operation: What it asks for.
    ///   - zones: The names of the zones that it is about.
    /// - Returns: What happens to it.
    func take(for user: String, _ operation: String, zones: Set<String>) -> Kind? {
        let index = faults.firstIndex { _, fault in
            (fault.user ?? user) == user && (fault.operation ?? operation) == operation
                && fault.zone.map(zones.contains) ?? true
        }
        guard let index else { return nil }
        let kind = faults[index].fault.kind
        if let count = faults[index].fault.count {
            faults[index].fault.count = count - 1
            if count <= 1 { faults.remove(at: index) }
        }
        return kind
    }
}

/// The zones of a request's body, for faults in one zone.
struct ZonesOfRequest: Decodable {
    private struct Zone: Decodable {
        var zoneName: String?
    }

    private struct Part: Decodable {
        var zoneID: Zone?
        var zone: Holder?
        var zoneName: String?
    }

    private struct Holder: Decodable {
        var zoneID: Zone?
    }

    private var zoneID: Zone?
    private var zones: [Part]?
    private var operations: [Part]?

    /// The names of the zones that a request is about.
    ///
    /// - Parameter body: Its body; one that can't be read is about no zone, and is refused later.
    /// - Returns: The names.
    static func names(in body: JSONBody) -> Set<String> {
        let request: ZonesOfRequest
        do { request = try body.decode(Self.self, orRefuse: "") } catch { return [] }
        let parts = (request.zones ?? []) + (request.operations ?? [])
        let names = parts.flatMap { [$0.zoneName, $0.zoneID?.zoneName, $0.zone?.zoneID?.zoneName] }
        return Set((names + [request.zoneID?.zoneName]).compactMap { $0 })
    }
}
