import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// A state machine whose turns end on command, with a log of its actions.
///
/// Every array of actions goes through the same checks: no call is answered twice, nothing is sent that is not
/// stored, and no lane has two requests.
struct MachineHarness {
    var machine: SyncStateMachine
    var now = Moment(monotonic: .seconds(100), wall: Date(timeIntervalSince1970: 1_800_000_000))
    /// The machine before the open turn.
    var before: SyncStateMachine?
    /// The inputs of the open turn.
    var inputs: [SyncInput] = []
    /// All stored rows, in order.
    var rows: [StateRow] = []
    /// The records whose changes may end in certain ways only.
    var watched: [String] = []
    private(set) var open: [RequestID: String] = [:]
    /// All requests that the machine has made.
    private(set) var requests: [RequestID: CloudRequest] = [:]
    private(set) var fetchRequest: (id: RequestID, since: ChangeToken?)?
    private(set) var sendRequest: (id: RequestID, items: [SendItem])?
    private(set) var lookUpRequest: (id: RequestID, names: [String])?
    private(set) var setupRequest: RequestID?
    private(set) var conflicts: [ReconcileItem] = []
    /// The user to whose state the machine asks to switch.
    private(set) var switchTo: String?
    /// The instant for which the machine asked last.
    private(set) var wakeAt: Duration?
    private var answered: Set<CallID> = []
    private var lastCall: CallID = 0
    /// Whether the database has a feed; if not, it says so when the machine reads it.
    var hasFeed = false
    /// Whether renewed look-ups of the account are answered at once.
    var answersRenewals = true
    /// Whether the server is taken to have the subscription each time that the machine compares.
    var answersChecks = true
    /// The contents that the elements of each live stream give, by record.
    private(set) var folded: [StreamID: [String: ContentHandle]] = [:]
    /// Violations found by the checks.
    var faults: [String] = []

    init(state: SyncState = SyncState(), _ change: (inout MachineConfiguration) -> Void = { _ in }) {
        var configuration = MachineConfiguration()
        configuration.pollInterval = nil
        change(&configuration)
        machine = SyncStateMachine(state: state, configuration: configuration, at: now)
    }

    /// A started machine with a confirmed account and zone, after an empty fetch.
    static func synced(_ change: (inout MachineConfiguration) -> Void = { _ in }) -> MachineHarness {
        var harness = MachineHarness(change)
        harness.goOnline()
        return harness
    }

    mutating func goOnline(user: String = "alice") {
        run(.calls(.start))
        confirmAccount(user)
        finishSetup()
        answerFetch(token: "0")
    }

    mutating func confirmAccount(_ user: String = "alice") {
        guard let request = setupRequest else { return }
        run(.response(request, .success(.account(CloudAccount(status: .available, userRecordName: user)))))
    }

    /// Starts the machine again; its first page is empty.
    @discardableResult
    mutating func restart() -> [SyncAction] {
        let actions = run(.calls(.start))
        guard let token = state.onlyZone.token, let request = fetchRequest else { return actions }
        return actions
            + run(.response(request.id, .success(.page(FetchedPage(token: token, moreComing: false)))))
    }

    /// Creates the zone and the subscription if the machine asks for them.
    mutating func finishSetup() {
        if [.unknown, .unreadable].contains(machine.state.onlyZone.stage), let request = setupRequest {
            run(.response(request, .success(.zoneSaved)))
        }
        if hasFeed, let request = setupRequest, case .readDatabaseChanges(since: nil)? = requests[request] {
            run(
                .response(
                    request,
                    .success(.databaseChanges(ZoneFate(reason: nil, token: ChangeToken("start"))))
                )
            )
        }
        if let request = setupRequest, open[request] == "subscription" {
            run(.response(request, .success(.subscriptionModified)))
        }
    }

    var state: SyncState { machine.state }

    /// Without a feed, answers a read of the feed with an error.
    mutating func answerPosition(_ actions: [SyncAction]) -> [SyncAction] {
        guard !hasFeed, machine.zone.doubt == nil, let request = setupRequest,
            let index = actions.firstIndex(of: .request(request, .readDatabaseChanges(since: nil)))
        else { return actions }
        var actions = actions
        actions.remove(at: index)
        return actions + run(.response(request, .failure(CloudError(.badDatabase))))
    }

    /// Confirms the user when the machine checks the account again.
    mutating func answerRenewal(_ actions: [SyncAction], after inputs: [SyncInput]) -> [SyncAction] {
        let isRenewal = inputs.contains { input in
            guard case .response(let id, _) = input else { return false }
            return switch requests[id] {
            case .fetch, .lookUp, .send, .saveZone, .subscribe, .unsubscribe: true
            case .checkAccount, .readDatabaseChanges, nil: false
            }
        }
        guard isRenewal, answersRenewals, let user = machine.userRecordName,
            let index = actions.firstIndex(where: \.isAccountCheck),
            case .request(let request, _) = actions[index]
        else { return actions }
        var actions = actions
        actions.remove(at: index)
        let account = CloudAccount(status: .available, userRecordName: user)
        return actions + run(.response(request, .success(.account(account))))
    }

    mutating func newCall() -> CallID {
        lastCall += 1
        return lastCall
    }

    /// Switches to another user's state, as the engine does.
    @discardableResult
    mutating func switchUser(state: SyncState, from former: String?) -> [SyncAction] {
        commitAll()
        machine = SyncStateMachine(goingOnFrom: machine, state: state, at: now)
        for id in open.keys { close(id) }
        switchTo = nil
        conflicts = []
        wakeAt = nil
        return run(.account(.switched(from: former)))
    }

    // MARK: The mechanical checks

    mutating func end(_ input: SyncInput) {
        switch input {
        case .response(let id, _), .sendLoadFailed(let id, _): close(id)
        case .reconciled: conflicts = []
        case .timePassed: wakeAt = nil
        default: break
        }
    }

    /// Forgets the requests whose responses the machine would ignore.
    mutating func closeAbandoned() {
        let inFlight = machine.requestsInFlight
        for id in open.keys where !inFlight.contains(id) { close(id) }
    }

    private mutating func close(_ id: RequestID) {
        open[id] = nil
        if fetchRequest?.id == id { fetchRequest = nil }
        if sendRequest?.id == id { sendRequest = nil }
        if lookUpRequest?.id == id { lookUpRequest = nil }
        if setupRequest == id { setupRequest = nil }
    }

    /// The lanes that share the slot: only one of them has a request at a time.
    private static let lanesOfSlot: Set<String> = ["setup", "fetch", "look-up", "send"]

    private mutating func begin(_ id: RequestID, _ lane: String) {
        if open.values.contains(lane) { faults.append("two requests in lane \(lane)") }
        if Self.lanesOfSlot.contains(lane), open.values.contains(where: Self.lanesOfSlot.contains) {
            faults.append("two requests in the slot: \(open.values.sorted()), \(lane)")
        }
        open[id] = lane
        let isRemoval = machine.subscription.isRemovalWanted && ["account", "subscription"].contains(lane)
        if machine.calls.isStopped, !isRemoval { faults.append("a request after stop") }
        if let wait = machine.context.serverWait.until, wait > now.monotonic {
            faults.append("a request during a wait")
        }
    }

    mutating func note(_ action: SyncAction) {
        switch action {
        case .store(let changes): rows += changes.rows
        case .report: break
        case .request(let id, let request): note(request, id)
        case .reconcile(let items):
            if !conflicts.isEmpty { faults.append("two groups of conflicts") }
            conflicts = items
        case .deliver(let stream, let items): noteDelivery(items, to: stream)
        case .mark(let stream, let mark):
            if mark == .reset, isLive(stream) { folded[stream] = [:] }
        case .wake(let instant): wakeAt = instant
        case .answer(let call, let answer): checkAnswer(call, answer)
        case .switchUser(let user): switchTo = user
        case .cancel(let id): if open[id] != nil { faults.append("a request is canceled but not abandoned") }
        }
    }

    private func isLive(_ stream: StreamID) -> Bool {
        machine.delivering.streams.contains { $0.id == stream && $0.kind == .live }
    }

    private mutating func noteDelivery(_ items: [DeliveryItem], to stream: StreamID) {
        let stored = state
        let isLive = isLive(stream)
        for item in items {
            if isLive { folded[stream]?[item.name] = item.kind.handle }
            // It may be shown as deleted because it cannot be decoded.
            if isLive, item.kind == .deleted { continue }
            guard stored[item.key]?.shownHandle != item.kind.handle else { continue }
            faults.append("\(item.name) is delivered before it is stored")
        }
    }

    private mutating func note(_ request: CloudRequest, _ id: RequestID) {
        requests[id] = request
        switch request {
        case .checkAccount:
            begin(id, "account")
            setupRequest = id
        case .saveZone:
            begin(id, "setup")
            setupRequest = id
            let zone = state.onlyZone.stage
            if zone == .ready || zone == .purged { faults.append("a zone is saved while it is \(zone)") }
        case .readDatabaseChanges:
            begin(id, "setup")
            setupRequest = id
        case .unsubscribe:
            begin(id, "subscription")
            setupRequest = id
        case .subscribe:
            begin(id, "subscription")
            setupRequest = id
            if state.onlyZone.stage != .ready {
                faults.append("a zone is subscribed to before it is stored")
            }
        case .fetch(let since):
            begin(id, "fetch")
            fetchRequest = (id, since)
            if since != state.onlyZone.token { faults.append("a fetch from a token that is not stored") }
        case .lookUp(let keys):
            begin(id, "look-up")
            lookUpRequest = (id, keys.map(\.recordName))
        case .send(let items):
            begin(id, "send")
            sendRequest = (id, items)
            checkSend(items)
        }
    }

    private mutating func checkSend(_ items: [SendItem]) {
        if Set(items.map(\.name)).count != items.count { faults.append("a name twice in a request") }
        if items.isEmpty { faults.append("an empty request") }
        for item in items {
            let record = state[item.key]
            let isNoted = item.handle.map { handle in record?.sent.contains { $0.handle == handle } == true }
            if isNoted ?? (record?.isDeletionSent == true) { continue }
            faults.append("\(item.name) is sent before that is stored")
        }
    }

    private mutating func checkAnswer(_ call: CallID, _ answer: CallAnswer) {
        if !answered.insert(call).inserted { faults.append("call \(call) is answered twice") }
    }
}

extension SyncAction {
    fileprivate var isAccountCheck: Bool { if case .request(_, .checkAccount) = self { true } else { false } }
}
