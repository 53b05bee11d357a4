import Foundation

@testable import CodableSync

extension ChaosStory {
    func step() async throws {
        clock.advance(by: .seconds(Int.random(in: 1...5, using: &random)))
        let index = chance(actors.count)
        let actor = actors[index]
        let number = chance(100)
        armCrash(index)
        switch number {
        case 0..<25: try await edit(index)
        case 25..<28:
            if faults.deletes { try await delete(index) }
            if faults.users { changeUser(actor, index) }
        case 28..<32: try await remember(index)
        case 32..<52: try await sync(index)
        case 52..<58: try await consume(index)
        case 58..<62: if faults.streams { try await useStreams(index) }
        case 62..<66: if faults.network { planFault(index) }
        case 66..<70: if faults.holds { await beginHeldSync(index) }
        case 70..<72: try await release(index)
        case 72..<75: try await restart(index)
        case 75..<78: if faults.tokens { expireTokens() }
        case 78..<83: loseZone()
        case 83..<87: if faults.commands { try await command(index) }
        case 87..<89: try await decide(index)
        case 89..<91: if faults.reachability { toggleReachability(index) }
        case 91..<93: if faults.quota { setQuota() }
        case 93..<94: if faults.throttling { throttle(index) }
        case 94..<96: if faults.accounts || faults.users { changeAccount(actor, index) }
        case 96..<98: if faults.parking { planParking(index) }
        default: if faults.holds { await missDeadlines() }
        }
        try await crashIfOff(index)
    }

    // MARK: What users do

    func edit(_ index: Int) async throws {
        let actor = actors[index]
        let name = names.randomElement(using: &random) ?? "a"
        let engine = actor.engine
        forgetFormerUser(actor)
        let stay = stay(of: actor)
        lastStamp += 1
        let stamp = "\(index).\(lastStamp)"
        do {
            var model = StampSet(name: name)
            if actor.consumes {
                model = actor.mirror[name] ?? model
            } else if let remembered = actor.remembered.removeValue(forKey: name) {
                model = remembered
            } else {
                model = try await within("model \(index)") { try await engine.model(named: name) } ?? model
            }
            // The copy belongs to the former user if the user has changed meanwhile.
            if let user = actor.shownUser, lastUser(of: actor) != user { model = StampSet(name: name) }
            model.write(stamp, on: index)
            say("edit \(index) \(name) \(model.stamps)")
            let edited = model
            let parked = faults.parking ? try await within("parked") { try await engine.parkedChanges() } : []
            try await within("upload \(index)") { try await engine.upload(edited) }
            if actor.consumes { actor.mirror[name] = model }
            actor.remembered[name] = nil
            // The app saw that a change was set aside, and replaced it.
            for change in parked where change.recordName == name {
                expected[name]?.subtract(Set(change.client?.stamps ?? []).subtracting(everSaved(name)))
            }
            if faults.users {
                let stays = min(stay, self.stay(of: actor))..<self.stay(of: actor) + 1
                // The app passed the upload in for one user, and the engine took it for the next, before the
                // app could know.
                if stays.count > 1 {
                    carriedOver.formUnion(model.stamps)
                    // The upload replaces the next user's version of the record.
                    writes.removeAll { $0.name == name && $0.index == index }
                }
                writes.append(Write(name: name, stamp: stamp, index: index, stays: stays))
            } else {
                expected[name, default: []].insert(stamp)
            }
        } catch let error as SyncError {
            say("edit \(index) failed: \(error)")
        }
    }

    func delete(_ index: Int) async throws {
        let name = names.randomElement(using: &random) ?? "a"
        say("delete \(index) \(name)")
        deleted.insert(name)
        let engine = actors[index].engine
        do {
            try await within("delete") { try await engine.delete(named: [name]) }
            actors[index].mirror[name] = nil
            actors[index].remembered[name] = nil
        } catch let error as SyncError {
            say("delete \(index) failed: \(error)")
        }
    }

    func remember(_ index: Int) async throws {
        let actor = actors[index]
        if actor.consumes { return }
        let engine = actor.engine
        forgetFormerUser(actor)
        guard let models = try? await within("allModels", { try await engine.allModels() }) else { return }
        guard lastUser(of: actor) == actor.shownUser else { return }
        for model in models { actor.remembered[model.recordName] = model }
        say("remember \(index) \(actor.remembered.keys.sorted())")
    }

    func sync(_ index: Int) async throws {
        try await release(index)
        let kind = chance(5)
        let engine = actors[index].engine
        do {
            let summary = try await within("sync \(index) kind \(kind)") {
                switch kind {
                case 0: return "\(try await engine.sendChanges())"
                case 1: return "\(try await engine.fetchChanges())"
                case 2: return "\(await engine.handleNotification(["zone": "Item"]))"
                default: return "\(try await engine.sync())"
                }
            }
            say("sync \(index) kind \(kind): \(summary)")
        } catch let error as SyncError {
            say("sync \(index) kind \(kind) failed: \(error)")
        }
    }

    func command(_ index: Int) async throws {
        let engine = actors[index].engine
        let kind = chance(faults.discards ? 5 : 4)
        say("command \(index) \(["stop", "start", "resync", "retry", "discard"][kind])")
        if kind == 4 { try await excuseDiscarded(index) }
        do {
            try await within("command \(kind)") {
                switch kind {
                case 0: await engine.stop()
                case 1: try await engine.start()
                case 2: try await engine.resync()
                case 3: try await engine.retry(named: engine.parkedChanges().map(\.recordName))
                default: try await engine.discard(named: ["a"])
                }
            }
        } catch let error as SyncError {
            say("command \(index) failed: \(error)")
        }
    }

    private func excuseDiscarded(_ index: Int) async throws {
        let engine = actors[index].engine
        let model = try? await within("model") { try await engine.model(named: "a") }
        let pending = try? await within("pending") { try await engine.pendingChanges() }
        var stamps = Set((model ?? nil)?.stamps ?? [])
        for change in pending ?? [] where change.recordName == "a" {
            stamps.formUnion(change.client?.stamps ?? [])
            // Discarding a deletion leaves the record in place.
            if change.isDeletion { deleted.insert("a") }
        }
        // The server keeps its version; only the device's own copy is discarded.
        let kept = (try? server()["a"]?.stamps) ?? []
        expected["a"]?.subtract(stamps.subtracting(kept))
    }

    /// Answers the purge question.
    func decide(_ index: Int) async throws {
        let engine = actors[index].engine
        let answer = faults.purgeAnswers.randomElement(using: &random) ?? .uploadAgain
        do {
            try await within("resolvePurge") { try await engine.resolvePurge(answer) }
            say("decide \(index) \(answer)")
        } catch let error as SyncError {
            say("decide \(index) failed: \(error)")
        }
    }

    // MARK: Streams

    func consume(_ index: Int) async throws {
        let actor = actors[index]
        guard actor.consumes else { return }
        for change in try await drained(index) {
            say("taken \(index) \(change)")
            take(change, actor)
        }
    }

    func take(_ change: ModelChange<StampSet>, _ actor: Actor) {
        actor.mirror.apply(change)
    }

    /// All changes delivered now; stops early if the disk has failed.
    func drained(_ index: Int) async throws -> [ModelChange<StampSet>] {
        let engine = actors[index].engine
        let taken = Locked<[ModelChange<StampSet>]>([])
        let changes = engine.changes
        let loop = Task {
            for await change in changes { taken.withLock { $0.append(change) } }
        }
        let files = actors[index].files
        defer { loop.cancel() }
        do {
            try await within("drain \(index)") {
                _ = try await engine.diagnostics()
                while await engine.core.undeliveredCount > 0, files?.isOff != true {
                    await Task.yield()
                }
            }
        } catch let error as SyncError {
            say("drain \(index) failed: \(error)")
        }
        loop.cancel()
        try await within("loop \(index)") { await loop.value }
        return taken.withLock { $0 }
    }

    /// Loops that break, two loops at once, and a loop whose process ends while it handles an element.
    func useStreams(_ index: Int) async throws {
        let actor = actors[index]
        let engine = actor.engine
        guard
            let left = try? await within("diagnostics", { await engine.core.undeliveredCount }),
            left > 0, actor.consumes, actor.files?.isDoomed == false
        else { return }
        let kind = chance(3)
        say("streams \(index) kind \(kind)")
        let first = engine.changes
        let second = engine.changes
        let shown = try await within("peek \(index)") { () -> ModelChange<StampSet>? in
            if kind == 1 {
                async let other: ModelChange<StampSet>? = Self.first(of: second)
                let shown = await Self.first(of: first)
                _ = await other
                return shown
            }
            return await Self.first(of: first)
        }
        guard kind == 2 else { return }
        // The app may have stored the element before the process ended.
        if let shown, Bool.random(using: &random) { take(shown, actor) }
        try await crash(index)
    }

    private static func first(of changes: AsyncStream<ModelChange<StampSet>>) async -> ModelChange<StampSet>?
    {
        for await change in changes { return change }
        return nil
    }
}
