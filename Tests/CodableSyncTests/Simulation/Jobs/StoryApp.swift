#if os(Linux)
    import Foundation

    @testable import CodableSync

    /// An app on one device of a story: one call that changes something at a time, any number of syncs, and a loop.
    ///
    /// `@unchecked Sendable` holds because the thread of the simulation alone uses it.
    final class StoryApp<Model: StoryModel>: @unchecked Sendable {
        let index: Int
        let writes: Bool
        let consumes: Bool
        unowned var story: JobStory<Model>!
        let fake: FakeDatabase
        private(set) var connection: SimulatedConnection
        private var configuration: SyncConfiguration
        private(set) var files = SimulatedFileSystem()
        private(set) var engine: SyncEngine<Model>
        /// Counts engines, so that what a former one's calls bring is told from what the present one's do.
        private(set) var life = 0
        private var isBusy = false
        let events = Locked<[SyncEvent]>([])
        private let broken = Locked<[String]>([])
        private var loop: Task<Void, Never>?
        /// What the app shows.
        private(set) var mirror: [String: Model] = [:]
        /// Copies that were read and not edited yet.
        var remembered: [String: Model] = [:]
        var rememberedStay = 0
        /// What sheets began with.
        var drafted: [String: Model] = [:]
        /// A loop that waits until the app's own call has returned.
        private var waitingLoop: CheckedContinuation<Void, Never>?
        /// Connections of former engines, with what is still on its way.
        private(set) var formerConnections: [SimulatedConnection] = []

        init(
            _ index: Int,
            in cloud: FakeCloud,
            clock: ManualClock,
            seed: UInt64,
            _ random: inout SplitMix64,
            _ options: StoryOptions
        ) {
            self.index = index
            writes = index < options.writers
            consumes = Bool.random(using: &random) && options.consumes
            fake = cloud.database()
            fake.conflictsCarryServerRecord = Int.random(in: 0..<4, using: &random) > 0
            connection = SimulatedConnection(fake)
            var configuration = SyncConfiguration()
            configuration.storage = .directory(URL(fileURLWithPath: "/device"))
            configuration.fileSystem = files
            configuration.clock = clock
            configuration.seed = seed &+ UInt64(index)
            configuration.automaticallySyncs = Bool.random(using: &random)
            configuration.pollInterval = nil
            configuration.fetchPageSize = [nil, 1, 2].randomElement(using: &random) ?? nil
            configuration.compactionSize = Bool.random(using: &random) ? 4096 : 4 << 20
            let (events, broken) = (events, broken)
            configuration.logHandler = { event in events.withLock { $0.append(event) } }
            configuration.inspector = { machine in
                let found = machine.brokenInvariants() + machine.forgottenLookUps
                if !found.isEmpty { broken.withLock { $0 += found } }
            }
            self.configuration = configuration
            engine = SyncEngine(database: connection, configuration: configuration)
        }

        /// What was wrong with a machine of this device between two inputs.
        var brokenInvariants: [String] { broken.withLock { $0 } }

        func say(_ line: @autoclosure () -> String) { story.say("\(index) \(line())") }

        /// Begins the loop over changes.
        func begin() {
            say("begins, writes \(writes), consumes \(consumes)")
            guard consumes else { return }
            let (changes, life) = (engine.changes, life)
            loop = Task { [self] in
                for await change in changes {
                    guard life == self.life else { return }
                    take(change)
                    // What it shows is accepted with the next request, which must not fall into a call of its own.
                    if isBusy {
                        await withCheckedContinuation { if isBusy { waitingLoop = $0 } else { $0.resume() } }
                    }
                }
            }
        }

        private func take(_ change: ModelChange<Model>) {
            say("takes \(change)")
            switch change {
            case .updated(let models), .saved(let models):
                for model in models { show(model) }
            case .deleted(let names):
                for name in names { mirror[name] = nil }
            }
        }

        /// Shows a model; it may have been on its way when the app made an edit, and so be older than what is shown.
        private func show(_ model: Model) {
            var model = model
            if !Model.hasFields, !story.deleted.contains(model.recordName), let own = mirror[model.recordName]
            {
                let stamps = model[edits: index]
                model[edits: index] += own[edits: index].filter { !stamps.contains($0) }
            }
            mirror[model.recordName] = model
        }

        // MARK: Calls

        /// Makes a call that changes something, if none is under way.
        func call(
            _ what: String,
            _ body: @escaping @Sendable (StoryApp<Model>, SyncEngine<Model>) async throws -> Void
        ) {
            if isBusy { return }
            isBusy = true
            let (engine, life) = (engine, life)
            Task { [self] in
                do {
                    try await body(self, engine)
                } catch {
                    say("\(what) failed: \(error)")
                }
                guard life == self.life else { return }
                isBusy = false
                waitingLoop?.resume()
                waitingLoop = nil
            }
        }

        func upload() {
            let name = story.names[story.chance(story.names.count)]
            call("upload") { app, engine in
                var model = Model(name: name)
                let stay = app.stay
                app.forgetFormerUser()
                if app.consumes {
                    model = app.mirror[name] ?? model
                } else if let remembered = app.remembered.removeValue(forKey: name) {
                    model = remembered
                } else {
                    model = try await engine.model(named: name) ?? model
                }
                app.story.lastStamp += 1
                let number = app.story.lastStamp
                let stamp = "\(app.index).\(number)"
                model[edits: app.index].append(stamp)
                app.say("uploads \(name) with \(model.stamps)")
                let life = app.life
                try await app.noting(stamp, of: name) { try await engine.upload(model) }
                // A process without power hears nothing any more.
                guard life == app.life else { return }
                app.remembered[name] = nil
                if app.consumes { app.show(model) }
                app.say("has uploaded \(name) with \(stamp)")
                app.story.noteUpload(of: model, number, by: app, since: stay)
            }
        }

        func delete() {
            let name = story.names[story.chance(story.names.count)]
            call("delete") { app, engine in
                app.say("deletes \(name)")
                app.story.deleted.insert(name)
                app.mirror[name] = nil
                app.remembered[name] = nil
                try await engine.delete(recordNames: [name])
            }
        }

        func read() {
            if consumes { return }
            call("read") { app, engine in
                app.forgetFormerUser()
                for model in try await engine.allModels() { app.remembered[model.recordName] = model }
                app.forgetFormerUser()
                app.say("has read \(app.remembered.keys.sorted())")
            }
        }

        func sync() {
            let (kind, engine) = (story.chance(4), engine)
            say("syncs, kind \(kind)")
            Task { [self] in
                do {
                    let summary =
                        switch kind {
                        case 0: try await engine.sendChanges()
                        case 1: try await engine.fetchChanges()
                        default: try await engine.sync()
                        }
                    say("has synced: \(summary)")
                } catch {
                    say("sync failed: \(error)")
                }
            }
        }

        // MARK: Ends of engines

        /// Loses power: what had not reached the disk for good is gone, and the next engine begins with the rest.
        func crash() {
            say("loses power")
            files.powerOffNow()
            connection.isOff = true
            files = files.crashed(keeping: .random(seed: UInt64(story.chance(1 << 30))))
            beginAnew()
        }

        /// Ends the engine in good order, and begins a new one on the same disk.
        func restart() {
            call("restart") { app, engine in
                app.say("restarts")
                let life = app.life
                try await engine.close()
                if life == app.life { app.beginAnew() }
            }
        }

        private func beginAnew() {
            life += 1
            loop?.cancel()
            waitingLoop?.resume()
            waitingLoop = nil
            isBusy = false
            remembered = [:]
            drafted = [:]
            configuration.fileSystem = files
            let next = SimulatedConnection(fake)
            next.isHolding = connection.isHolding
            formerConnections.append(connection)
            connection = next
            engine = SyncEngine(database: connection, configuration: configuration)
            begin()
        }

        // MARK: The end

        /// The trouble stops.
        func mend() {
            files.clearFaults()
            for connection in formerConnections + [connection] {
                connection.unreadable = []
                connection.releaseAll()
            }
        }

        /// Runs a call to its end, while everything it may wait for goes on.
        private func toEnd<Value: Sendable>(
            _ body: @escaping @Sendable (SyncEngine<Model>) async throws -> Value
        ) -> Result<Value, any Error>? {
            let (engine, result) = (engine, Locked<Result<Value, any Error>?>(nil))
            Task {
                do {
                    let value = try await body(engine)
                    result.withLock { $0 = .success(value) }
                } catch {
                    result.withLock { $0 = .failure(error) }
                }
            }
            story.simulation.drain()
            return result.withLock { $0 }
        }

        /// Syncs.
        ///
        /// - Returns: How much there was to do; `nil` if the call never returned.
        func syncToEnd() -> Int? {
            // A restart may be under way.
            story.simulation.drain()
            switch toEnd({ try await $0.sync() }) {
            case .success(let summary)?:
                say("heals: \(summary)")
                return summary.sent + summary.deleted + summary.fetched + summary.conflictsResolved
                    + summary.pending
            case .failure(let error)?:
                say("heals in vain: \(error)")
                return 1
            case nil: return nil
            }
        }

        func check(_ server: [String: Model]) {
            switch toEnd({ try await ($0.allModels(), $0.parkedChanges()) }) {
            case .success((let models, let parked))?:
                let shown = models.reduce(into: [:]) { $0[$1.recordName] = $1 }
                if shown != server { story.fail("\(index) shows \(shown), the server has \(server)") }
                if !parked.isEmpty { story.fail("\(index) has parked \(parked)") }
            case .failure(let error)?: story.fail("\(index) cannot read: \(error)")
            case nil: story.fail("\(index) reads for ever")
            }
            let conflicts = events.withLock { events in
                events.count { if case .conflictResolved = $0 { true } else { false } }
            }
            let lost = events.withLock { events in
                events.compactMap { if case .stateUnwritable(let text) = $0 { text } else { nil } }
            }
            if !story.options.crashes, !story.options.refusesWrites, story.options.refusedWrite == nil {
                // An engine that closes meanwhile cannot read any more.
                for text in lost where text.hasSuffix("missing.") { story.fail("\(index): \(text)") }
            }
            if story.options.writers == 1, conflicts > 0 {
                story.fail("\(index) has met \(conflicts) conflicts, and only one device writes")
            }
            // An element may have been on its way when the app deleted its record; the deletion itself is no news. What
            // became of a call that has not returned nobody knows.
            func kept(_ models: [String: Model]) -> [String: Set<String>] {
                models.filter { !story.deleted.contains($0.key) }.reduce(into: [:]) { kept, model in
                    kept[model.key] = story.acknowledged[model.key, default: []].intersection(
                        model.value.stamps
                    )
                }
            }
            if consumes, kept(mirror) != kept(server) {
                story.fail("the app on \(index) has \(mirror), the server has \(server)")
            }
        }

        func end() {
            life += 1
            loop?.cancel()
            waitingLoop?.resume()
            waitingLoop = nil
            if toEnd({ try await $0.close() }) == nil { story.fail("\(index) closes for ever") }
        }
    }

    extension SyncStateMachine {
        /// What nobody looks up; where no look-up is refused, there is nothing of the kind.
        fileprivate var forgottenLookUps: [String] {
            guard lookUps.isEmpty, uncommitted.isEmpty, zoneDoubt == nil else { return [] }
            return state.unreadQueue.names.filter { !state.sendQueue.contains($0) }.map {
                "\($0) is unread, and nobody looks it up"
            }
        }
    }
#endif
