import Foundation

@testable import CodableSync

extension ChaosStory {
    // MARK: The network

    func planFault(_ index: Int) {
        let database = actors[index].device.database
        let codes: [CloudError.Code] = [
            .networkFailure, .serviceUnavailable, .zoneBusy, .serverResponseLost, .internalError,
            .operationCancelled, .quotaExceeded, .changeTokenExpired, .zoneNotFound, .notAuthenticated,
            .requestRateLimited, .batchRequestFailed, .serverRecordChanged, .unknown("tomorrow"),
        ]
        let code = codes.randomElement(using: &random) ?? .zoneBusy
        let operation = ScriptedDatabase.Operation.allCases.randomElement(using: &random) ?? .modify
        let late = chance(3)
        switch chance(3) {
        case 0:
            say("fail \(index) \(operation) \(code) after \(late)")
            for _ in 0..<late { database.plan(operation, .holdBefore(.opened)) }
            database.failNext(operation, code)
        case 1:
            say("lose \(index) \(operation) after \(late)")
            for _ in 0..<late { database.plan(operation, .holdBefore(.opened)) }
            database.plan(operation, .loseAnswer)
        default:
            if code == .zoneNotFound { return }
            say("fail item \(index) a \(code)")
            database.failItem("a", CloudError(code))
        }
    }

    func planParking(_ index: Int) {
        let codes: [CloudError.Code] = [.invalidArguments, .permissionFailure, .limitExceeded]
        let code = codes.randomElement(using: &random) ?? .invalidArguments
        let name = names.randomElement(using: &random) ?? "a"
        say("refuse item \(index) \(name) \(code)")
        actors[index].device.database.failItem(name, CloudError(code))
    }

    func beginHeldSync(_ index: Int) async {
        let gate = Gate()
        let actor = actors[index]
        let isBefore = Bool.random(using: &random)
        let operations: [ScriptedDatabase.Operation] = [.modify, .modify, .fetch, .fetch, .zones, .lookUp]
        let operation = operations.randomElement(using: &random) ?? .modify
        actor.device.database.plan(operation, isBefore ? .holdBefore(gate) : .holdAfter(gate))
        say("hold \(index) \(operation) \(isBefore ? "before" : "after")")
        let engine = actor.engine
        let sync = Task {
            do { _ = try await engine.sync() } catch { return }
        }
        actor.held.append((gate, sync))
        for _ in 0..<chance(80) { await Task.yield() }
    }

    func release(_ index: Int) async throws {
        let actor = actors[index]
        guard !actor.held.isEmpty else { return }
        let isLost = Bool.random(using: &random)
        say("release \(index) lost \(isLost)")
        for held in actor.held { held.gate.open(throwing: isLost ? CloudError(.serverResponseLost) : nil) }
        for held in actor.held { try await within("held sync \(index)") { await held.sync.value } }
        actor.held = []
    }

    /// Held requests time out and are answered later.
    func missDeadlines() async {
        say("deadlines pass")
        clock.advance(by: .seconds(61))
        for _ in 0..<50 { await Task.yield() }
    }

    func toggleReachability(_ index: Int) {
        let fake = actors[index].fake
        fake.isReachable.toggle()
        say("reachable \(index) \(fake.isReachable)")
    }

    func setQuota() {
        let bytes = Bool.random(using: &random) ? nil : cloud.usedBytes(user: "alice") + chance(100)
        say("quota \(bytes.map(String.init) ?? "none")")
        cloud.setQuota(bytes, user: "alice")
    }

    func throttle(_ index: Int) {
        let wait = Duration.seconds(1 + chance(100))
        say("throttle \(index) \(wait)")
        actors[index].fake.on(.any, .throttle(retryAfter: wait))
    }

    func changeAccount(_ actor: Actor, _ index: Int) {
        if faults.users { return changeUser(actor, index) }
        let kind = chance(4)
        say("account \(index) \(["temporarily unavailable", "signed out", "available", "back"][kind])")
        switch kind {
        case 0: actor.fake.account = .temporarilyUnavailable
        case 1: actor.fake.signOut()
        case 2: actor.fake.account = actor.fake.user == nil ? .noAccount : .available
        default: actor.fake.signIn(user: "alice")
        }
    }

    // MARK: The zone

    func expireTokens() {
        let isRecreated = (faults.zoneReset || faults.zoneDeleted || faults.zonePurged) && actors.count > 1
        // Only the database's feed shows that a zone was re-created.
        let zone = Bool.random(using: &random) || isRecreated ? zoneID : nil
        say("tokens expire \(zone == nil ? "all" : "zone")")
        try? cloud.expireTokens(in: zone, user: "alice")
    }

    func loseZone() {
        let kinds = [faults.zoneReset, faults.zoneDeleted, faults.zonePurged]
        let kind = chance(3)
        guard kinds[kind], (try? server()) != nil else { return }
        switch kind {
        case 0:
            noteServer()
            guard (try? cloud.resetEncryptedData(in: zoneID, user: "alice")) != nil else { return }
            say("encrypted data reset")
        case 1:
            let before = expected
            if !faults.hidesReasons { excuseServer() }
            guard (try? cloud.deleteZone(zoneID, user: "alice")) != nil else { return expected = before }
            say("zone deleted\(faults.hidesReasons ? ", nobody knows why" : "")")
        default:
            let before = expected
            noteServer()
            if faults.purgeAnswers != [.uploadAgain] { excuseServer() }
            guard (try? cloud.purgeZone(zoneID, user: "alice")) != nil else { return expected = before }
            say("zone purged")
        }
    }

    // MARK: Disks and processes

    func restart(_ index: Int) async throws {
        say("restart \(index)")
        let actor = actors[index]
        try? await actor.device.restart()
        try await release(index)
    }

    /// Schedules a power loss at one of the next file-system calls.
    func armCrash(_ index: Int) {
        guard faults.crashes, chance(8) == 0, let files = actors[index].files else { return }
        let call = files.calls.count + chance(25)
        let moment = SimulatedDisk.Moment.allCases.randomElement(using: &random) ?? .before
        say("power of \(index) goes at call \(call), \(moment)")
        files.powerOff(at: call, moment)
    }

    func crashIfOff(_ index: Int) async throws {
        for (index, actor) in actors.enumerated() where actor.files?.isOff == true {
            try await crash(index)
        }
    }

    func crash(_ index: Int) async throws {
        let survivors: [SimulatedDisk.Survivors] = [.onlySynced, .allWrites, .random(seed: random.next())]
        let kept = survivors.randomElement(using: &random) ?? .onlySynced
        say("crash \(index) keeping \(kept)")
        let actor = actors[index]
        try await actor.device.crash(keeping: kept)
        actor.remembered = [:]
    }
}
