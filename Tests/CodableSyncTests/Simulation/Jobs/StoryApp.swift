#if os(Linux)
    import Foundation

    @testable import CodableSync

    /// An app on one device of a story.
    ///
    /// It makes one call at a time, except for edits and syncs, and may loop over changes.
    ///
    /// `@unchecked Sendable` holds because only the simulation's thread uses it.
    final class StoryApp<Model: StoryModel>: @unchecked Sendable {
        let index: Int
        let writes: Bool
        let consumes: Bool
        /// Whether the app takes its copies from `liveChanges` rather than from `changes`.
        let isLive: Bool
        unowned var story: JobStory<Model>!
        let fake: FakeDatabase
        private let cloud: FakeCloud
        private(set) var connection: SimulatedConnection
        private var configuration: SyncConfiguration
        private(set) var files = SimulatedFileSystem()
        private(set) var engine: SyncEngine<Model>
        /// The number of engines before the current one; results of their calls are ignored.
        private(set) var life = 0
        private(set) var isBusy = false
        private var isUploading = false
        /// Whether power was lost during an upload.
        private(set) var mayMeetOwnUpload = false
        let events = Locked<[SyncEvent]>([])
        /// The first user of this device's state, while the app has not been told of any.
        let firstUser = Locked<String?>(nil)
        private let broken = Locked<[String]>([])
        /// Whether the current engine holds a response, which ends with it.
        private let holdsResponse = Locked(false)
        private var loop: Task<Void, Never>?
        var liveLoop: Task<Void, Never>?
        /// What the elements of `liveChanges` give, for every app with a loop over them.
        var folded: [String: Model] = [:]
        /// The models that the app shows, by name.
        var mirror: [String: Model] = [:]
        /// Copies that the app has read but not edited yet.
        var remembered: [String: Model] = [:]
        var rememberedStay = 0
        /// The stamps of this device's acknowledged drafts, by record name.
        var drafts: [String: [String]] = [:]
        /// Copies that drafts may begin with.
        var drafted: [String: Model] = [:]
        /// The loop, if it waits for the app's own call to return.
        private var waitingLoop: CheckedContinuation<Void, Never>?
        /// Connections of earlier engines, which may still hold requests and answers.
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
            isLive = Bool.random(using: &random) && consumes
            fake = cloud.database()
            fake.conflictsCarryServerRecord = Int.random(in: 0..<4, using: &random) > 0
            self.cloud = cloud
            connection = SimulatedConnection(fake) { cloud.records(in: JobStory<Model>.zoneID) }
            var configuration = SyncConfiguration()
            configuration.sendDelay = .zero
            configuration.storage = .directory(URL(fileURLWithPath: "/device"))
            configuration.fileSystem = files
            configuration.clock = clock
            configuration.seed = seed &+ UInt64(index)
            configuration.automaticallySyncs = Bool.random(using: &random)
            configuration.pollInterval = nil
            configuration.fetchPageSize = [nil, 1, 2].randomElement(using: &random) ?? nil
            configuration.compactionSize = Bool.random(using: &random) ? 4096 : 4 << 20
            let (events, broken, firstUser, holds) = (events, broken, firstUser, holdsResponse)
            configuration.logHandler = { event in events.withLock { $0.append(event) } }
            configuration.inspector = { machine in
                let found = machine.brokenInvariants() + machine.forgottenLookUps
                if !found.isEmpty { broken.withLock { $0 += found } }
                firstUser.note(machine.userRecordName, told: events)
                holds.withLock { $0 = machine.holdsResponse }
            }
            self.configuration = configuration
            engine = SyncEngine(database: connection, configuration: configuration)
        }

        /// Invariants that this device's state machines have broken.
        var brokenInvariants: [String] { broken.withLock { $0 } }

        func say(_ line: @autoclosure () -> String) { story.say("\(index) \(line())") }

        /// Starts the loop over changes, if this app has one.
        func begin() {
            say("starts, writes: \(writes), consumes: \(consumes)")
            followBeside()
            guard consumes else { return }
            let (changes, life) = (isLive ? engine.liveChanges : engine.changes, life)
            loop = Task { [self] in
                for await change in changes {
                    guard life == self.life else { return }
                    take(change)
                    if isLive { folded.apply(change) }
                    // Requesting the next change accepts this one, which must wait for the app's own call.
                    if isBusy {
                        await withCheckedContinuation { if isBusy { waitingLoop = $0 } else { $0.resume() } }
                    }
                }
            }
        }

        private func take(_ change: ModelChange<Model>) {
            say("receives \(change)")
            switch change {
            case .updated(let models), .saved(let models):
                for model in models { show(model) }
            case .deleted(let names):
                for name in names { mirror[name] = nil }
            case .reset: mirror = [:]
            case .replayed: break
            }
        }

        /// Shows a model, and keeps this device's own stamps, which an older model may lack.
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

        /// Makes a call unless another one is running.
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

        /// Uploads what the app has with another stamp, as an edit of that: the copy may be old.
        func upload() {
            let name = story.names[story.chance(story.names.count)]
            call("upload") { app, engine in
                let stay = app.stay
                app.forgetFormerUser()
                var original = app.mirror[name]
                if !app.consumes || (app.isLive && original == nil) {
                    original = app.remembered.removeValue(forKey: name)
                    if original == nil { original = try await engine.model(named: name) }
                }
                var model = original ?? Model(name: name)
                app.story.lastStamp += 1
                let number = app.story.lastStamp
                let stamp = "\(app.index).\(number)"
                model[edits: app.index].append(stamp)
                app.say("uploads \(name) with \(model.stamps)")
                let life = app.life
                app.isUploading = true
                defer { if life == app.life { app.isUploading = false } }
                try await app.noting(stamp, of: name) { [model, original] in
                    try await engine.upload(model, editedFrom: original, ifMissing: .create)
                }
                // A process that has lost power receives no result.
                guard life == app.life else { return }
                app.remembered[name] = nil
                if app.consumes { app.show(model) }
                app.say("has uploaded \(name) with \(stamp)")
                app.story.noteUpload(of: model, number, by: app, since: stay)
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

        // MARK: Crashes and restarts

        /// Cuts the power: unflushed writes may be lost, and a new engine starts with the rest.
        func crash() {
            say("loses power")
            // The upload may be stored although the app's copies lack it, as its next edit then does.
            if isUploading { mayMeetOwnUpload = true }
            files.powerOffNow()
            connection.isOff = true
            files = files.crashed(keeping: .random(seed: UInt64(story.chance(1 << 30))))
            // What the last answer said may not be flushed.
            connection.loseLastAnswer()
            beginAnew()
        }

        /// Closes the engine and starts a new one on the same disk.
        func restart() {
            call("restart") { app, engine in
                app.say("restarts")
                let life = app.life
                try await engine.close()
                guard life == app.life else { return }
                if app.holdsResponse.withLock({ $0 }) { app.connection.loseLastAnswer() }
                app.beginAnew()
            }
        }

        private func beginAnew() {
            life += 1
            loop?.cancel()
            liveLoop?.cancel()
            folded = [:]
            if isLive { mirror = [:] }
            waitingLoop?.resume()
            waitingLoop = nil
            isBusy = false
            isUploading = false
            remembered = [:]
            drafted = [:]
            configuration.fileSystem = files
            let next = SimulatedConnection(fake) { [cloud] in cloud.records(in: JobStory<Model>.zoneID) }
            next.isHolding = connection.isHolding
            formerConnections.append(connection)
            connection = next
            engine = SyncEngine(database: connection, configuration: configuration)
            begin()
        }

        // MARK: The end

        /// Ends this device's faults and releases its held requests and answers.
        func mend() {
            files.clearFaults()
            for connection in formerConnections + [connection] {
                connection.unreadable = []
                connection.releaseAll()
            }
        }

        /// Runs a call and all other jobs until none is left.
        ///
        /// - Returns: The result; `nil` if the call has not returned by then.
        func toEnd<Value: Sendable>(
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

        /// Syncs and runs all jobs until none is left.
        ///
        /// - Returns: The number of changes handled or pending; 1 if the sync failed; `nil` if it never
        ///   returned.
        func syncToEnd() -> Int? {
            // A restart may be in progress.
            story.simulation.drain()
            switch toEnd({ try await $0.sync() }) {
            case .success(let summary)?:
                say("final sync: \(summary)")
                return summary.sent + summary.deleted + summary.fetched + summary.conflictsResolved
                    + summary.pending
            case .failure(let error)?:
                say("final sync failed: \(error)")
                return 1
            case nil: return nil
            }
        }

        func end() {
            life += 1
            loop?.cancel()
            liveLoop?.cancel()
            waitingLoop?.resume()
            waitingLoop = nil
            if toEnd({ try await $0.close() }) == nil { story.fail("\(index): closing never returns") }
        }
    }
#endif
