/// Which faults a run has, and when, from a seed.
struct FaultPlan {
    /// A fault that begins and ends.
    enum Fault: Hashable, CustomStringConvertible {
        case cut(Int, [FaultProxy.Direction])
        case stop(Int)
        case killClient(Int)
        case killServer
        case wrongClock(Int, Double)

        /// The client that it is about; `nil` for the server.
        var place: Int? {
            switch self {
            case .cut(let place, _), .stop(let place), .killClient(let place), .wrongClock(let place, _):
                place
            case .killServer: nil
            }
        }

        var description: String {
            switch self {
            case .cut(let place, let directions):
                "cut client-\(place) \(directions.map { "\($0)" }.joined(separator: "+"))"
            case .stop(let place): "stop client-\(place)"
            case .killClient(let place): "kill client-\(place)"
            case .killServer: "kill server"
            case .wrongClock(let place, let seconds): "clock client-\(place) \(Int(seconds))"
            }
        }
    }

    private var random: SplitMix
    /// Those that have not ended; a client has one at a time, but for its clock.
    private var busy: Set<Int?> = []

    init(seed: UInt64) {
        random = SplitMix(state: seed)
    }

    /// The next fault, how long it lasts, and the pause before the one behind it.
    mutating func next() -> (fault: Fault, duration: Duration, pause: Duration) {
        let pause = Duration.milliseconds(Int.random(in: 100...1200, using: &random))
        let fault = pick()
        if case .wrongClock = fault {} else { busy.insert(fault.place) }
        let milliseconds =
            switch fault {
            case .cut: Int.random(in: 200...7000, using: &random)
            case .stop: Int.random(in: 200...4000, using: &random)
            case .killClient: Int.random(in: 0...1500, using: &random)
            case .killServer: Int.random(in: 0...3000, using: &random)
            case .wrongClock: 0
            }
        return (fault, .milliseconds(milliseconds), pause)
    }

    private mutating func pick() -> Fault {
        let place = Int.random(in: 0..<Entry.clientCount, using: &random)
        let kind = Int.random(in: 0..<12, using: &random)
        if busy.contains(place) || kind == 11 {
            return .wrongClock(place, [-3600, 0, 3600].randomElement(using: &random) ?? 0)
        }
        switch kind {
        case 0, 1: return .cut(place, [.requests, .responses])
        case 2, 3: return .cut(place, [.requests])
        case 4, 5: return .cut(place, [.responses])
        case 6: return .stop(place)
        case 7, 8, 9: return .killClient(place)
        default: return busy.contains(nil) ? .stop(place) : .killServer
        }
    }

    /// One of the clients.
    mutating func client() -> Int { Int.random(in: 0..<Entry.clientCount, using: &random) }

    /// Notes that a fault has ended.
    mutating func end(_ fault: Fault) {
        if case .wrongClock = fault { return }
        busy.remove(fault.place)
    }
}

/// Random numbers that a seed repeats.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
