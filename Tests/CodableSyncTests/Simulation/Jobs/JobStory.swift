#if os(Linux)
    import Foundation

    @_spi(Server) @testable import CodableSync

    /// The events that may occur in a story.
    struct StoryOptions {
        /// The number of devices that write; the others only read and sync.
        var writers = 3
        var deletes = false
        /// Whether requests and answers may fail or get lost.
        var faults = true
        /// Whether requests that engines have given up may arrive later.
        var delays = false
        /// Whether pages and look-ups sometimes fail to read single records.
        var hidesRecords = true
        var crashes = true
        /// Whether disks sometimes reject a write.
        var refusesWrites = false
        /// The index of the only write that one device's disk rejects.
        var refusedWrite: Int?
        var expiresTokens = true
        var losesZone = true
        /// Whether different users sign in.
        var changesUsers = false
        /// Whether a newer version of the app saves records, which these apps then can't read.
        var hasNewerApps = false
        /// Whether the only writer uploads all records in the end, before the last requests that were given up arrive.
        var uploadsLast = false
        /// Whether some apps take their copies from the stream; otherwise all of them read.
        var consumes = true
        /// Whether apps that edit in place have a loop over `liveChanges` beside their other calls.
        var followsBeside = true
        /// The number of random actions before the faults end.
        var length = 300

        init() {}
    }

    enum StoryLog {
        /// Whether logs are printed line by line.
        static let isPrinted = ProcessInfo.processInfo.environment["LOG"] != nil
    }

    /// A random story of several devices and one cloud.
    ///
    /// The seed decides which job of which engine runs next, and which calls, answers, faults, power cuts
    /// and clock advances happen between two jobs. At the end the faults stop and all devices sync; then no
    /// acknowledged edit may be missing.
    ///
    /// `@unchecked Sendable` holds because only the simulation's thread uses it.
    final class JobStory<Model: StoryModel>: @unchecked Sendable {
        let seed: UInt64
        let options: StoryOptions
        /// Whether to keep a log; stories run faster without one.
        let keepsLog: Bool
        let simulation: JobSimulation
        let clock = ManualClock()
        let cloud: FakeCloud
        static var zoneID: ZoneID { ZoneID(zoneName: "Item") }
        let names: [String]
        var apps: [StoryApp<Model>] = []
        var random: SplitMix64
        var lastStamp = 0
        /// Stamps that must be on the server at the end, by record name.
        var expected: [String: Set<String>] = [:]
        var deleted: Set<String> = []
        /// Records that the only writer has deleted last, in a call that has returned.
        var gone: Set<String> = []
        /// The stamps of the uploads at the end, by record name.
        var last: [String: String] = [:]
        /// Stamps of calls that have returned, by record name; the outcome of other calls is unknown.
        var acknowledged: [String: Set<String>] = [:]
        /// Stamps that edits removed and that must not be on the server at the end, by record name.
        var takenOut: [String: Set<String>] = [:]
        /// Stamps that edits removed, whether or not these edits have returned, by record name.
        var perhapsOut: [String: Set<String>] = [:]
        /// Stamps of calls that the disk rejected, by record name.
        var refused: [String: Set<String>] = [:]
        /// The last acknowledged draft and those after it, by record name and device.
        ///
        /// One of them must be on the server at the end.
        var drafts: [String: [String]] = [:]
        /// Uploads that have returned, recorded only if users change.
        var writes: [StoryWrite] = []
        /// Stamps in uploads made during an account switch; they may be in the next user's records.
        var carriedOver: Set<String> = []
        /// The number of the last stamp that an upload during a switch may have replaced, by record name.
        var lastReplaced: [String: Int] = [:]
        private(set) var log: [String] = []
        private(set) var failures: [String] = []

        init(seed: UInt64, _ options: StoryOptions, keepsLog: Bool, in simulation: JobSimulation) {
            self.seed = seed
            self.options = options
            self.keepsLog = keepsLog
            self.simulation = simulation
            var random = SplitMix64(seed: seed)
            let clock = clock
            cloud = FakeCloud(identifier: "story", options: LedgerOptions(), date: { clock.now.wall })
            cloud.epoch = seed &+ 1
            names = ["a", "b", "c"].prefix(.random(in: 1...3, using: &random)).map { $0 }
            for index in 0..<Int.random(in: 1...3, using: &random) {
                apps.append(StoryApp(index, in: cloud, clock: clock, seed: seed, &random, options))
            }
            self.random = random
            for app in apps { app.story = self }
            if let write = options.refusedWrite { apps[chance(apps.count)].refuseWrite(after: write) }
        }

        func say(_ line: @autoclosure () -> String) {
            guard keepsLog else { return }
            log.append("\(simulation.stepCount): \(line())")
            if StoryLog.isPrinted { print(log[log.count - 1]) }
        }

        func fail(_ line: String) {
            say("failed: \(line)")
            failures.append(line)
        }

        /// A random number from 0 up to, but not including, the count.
        func chance(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

        /// Runs the story and checks its outcome.
        func run() {
            StampFields.createdTwice.withLock { $0 = [] }
            for app in apps { app.begin() }
            var left = options.length
            while left > 0, failures.isEmpty {
                left -= 1
                // Usually a few jobs run, and sometimes all that are waiting.
                let steps = chance(12) == 0 ? 500 : chance(8)
                for _ in 0..<steps where !simulation.step() { break }
                act()
                for app in apps { for line in app.brokenInvariants { fail("\(app.index): \(line)") } }
            }
            if failures.isEmpty { options.changesUsers ? healUsers() : heal() }
            if failures.isEmpty { check() }
            if failures.isEmpty { checkUsers() }
            end()
        }

        private func act() {
            clock.advance(by: .milliseconds(chance(options.faults ? 1500 : 100)))
            let app = apps[chance(apps.count)]
            switch chance(100) {
            case 0..<22: if app.writes { write(app) }
            case 22..<25: if options.deletes, app.writes { app.delete() }
            case 25..<30 where options.delays && options.deletes: if app.writes { app.delete() }
            case 25..<30: chance(2) == 0 ? app.compare() : app.read()
            case 30..<42: app.sync()
            case 42..<64: app.deliver()
            case 64..<78: flow(app)
            case 78..<82: if options.hidesRecords { app.hideRecords() }
            case 82..<84: if options.expiresTokens { expireTokens() }
            case 84..<86: if options.losesZone { loseZone() }
            case 86..<88: if options.crashes { app.crash() }
            case 88..<90: app.restart()
            case 90..<93 where options.refusesWrites: app.refuseWrite()
            case 90..<92 where options.changesUsers: app.changeUser()
            case 90..<95 where options.hasNewerApps: saveAsNewerApp()
            case 90..<92: if options.faults { pass(.seconds(61)) }
            default: pass(.seconds(chance(options.faults ? 20 : 2)))
            }
        }

        private func write(_ app: StoryApp<Model>) {
            // An upload sends the app's whole copy, which may lack edits that the app has not received.
            guard Model.hasFields else { return app.upload() }
            if chance(3) == 0 { return app.draft() }
            for _ in 0...chance(3) { app.editShown() }
        }

        /// Delivers several of a device's messages in quick succession.
        private func flow(_ app: StoryApp<Model>) {
            for _ in 0..<chance(40) {
                app.deliver()
                for _ in 0..<chance(30) where !simulation.step() { break }
            }
        }

        private func pass(_ duration: Duration) {
            say("time passes: \(duration)")
            clock.advance(by: duration)
        }

        private func expireTokens() {
            say("tokens expire")
            do { try cloud.expireTokens(in: Self.zoneID) } catch { say("\(error)") }
        }

        private func loseZone() {
            do {
                try cloud.resetEncryptedData(in: Self.zoneID)
                say("the zone is lost")
            } catch {
                say("\(error)")
            }
        }

        /// Records an upload that has returned.
        func noteUpload(of model: Model, _ number: Int, by app: StoryApp<Model>, since stay: Int) {
            let (name, stamp) = (model.recordName, "\(app.index).\(number)")
            guard options.changesUsers else {
                expected[name, default: []].insert(stamp)
                acknowledged[name, default: []].insert(stamp)
                return
            }
            noteChange(stamp, number, of: name, by: app, since: stay)
            if app.stay > stay {
                carriedOver.formUnion(model.stamps)
                lastReplaced[name] = lastStamp
            }
        }

        /// Records an edit or upload of one of several users that has returned.
        func noteChange(
            _ stamp: String,
            _ number: Int,
            of name: String,
            by app: StoryApp<Model>,
            since stay: Int
        ) {
            writes.append(
                StoryWrite(stamp: stamp, number: number, name: name, app: app.index, stays: stay...app.stay)
            )
        }

        // MARK: The end

        /// Ends all faults and syncs all devices until there is nothing left to do.
        func heal() {
            say("faults end")
            for app in apps { app.mend() }
            simulation.drain()
            if options.uploadsLast {
                uploadLast()
            } else if options.delays, options.deletes {
                for app in apps where app.writes { app.deleteAll() }
            }
            for round in 0..<40 {
                // Requests that were given up come last, behind all that was sent since.
                if round == 1 { for app in apps { while app.deliverLate() {} } }
                var work = endNewerVersions()
                for app in apps {
                    clock.advance(by: .seconds(3600))
                    guard let found = app.syncToEnd() else { return fail("\(app.index): sync never returns") }
                    work += found
                }
                if work == 0, round > 2 { return }
            }
            fail("devices still have work to do after 40 rounds")
        }

        /// Uploads all records, and lets what was given up arrive behind that, within the time of a late deletion.
        private func uploadLast() {
            syncSoon()
            for app in apps where app.writes { app.uploadAll() }
            syncSoon()
            for app in apps { while app.deliverLate() {} }
            syncSoon()
        }

        private func syncSoon() {
            for _ in 0..<2 {
                clock.advance(by: .seconds(60))
                // One that waits for longer is done when the time passes again.
                for app in apps { _ = app.syncToEnd() }
            }
        }

        func stamps(of record: Record?) -> Set<String> {
            guard let record, let model = decoded(record) else { return [] }
            return Set(model.stamps)
        }

        private func decoded(_ record: Record) -> Model? {
            do {
                return try RecordDecoder().decode(Model.self, from: record)
            } catch {
                fail("\(record.recordID.recordName): \(error)")
                return nil
            }
        }

        func server(of user: String = FakeCloud.defaultUser) -> [String: Model] {
            cloud.records(user: user, in: Self.zoneID).compactMapValues(decoded)
        }

        private func check() {
            let server = server()
            for name in expected.keys.sorted() where !deleted.contains(name) {
                let missing = expected[name, default: []].subtracting(server[name]?.stamps ?? [])
                if !missing.isEmpty { fail("\(name): \(missing.sorted()) missing on the server") }
                let stays = refused[name, default: []].intersection(server[name]?.stamps ?? [])
                if !stays.isEmpty { fail("\(name): \(stays.sorted()) were rejected but are on the server") }
                if StampFields.createdTwice.withLock({ $0.contains(name) }) { continue }
                let unanswered = apps.flatMap { $0.addedUnanswered(to: name) }
                let back = takenOut[name, default: []].intersection(server[name]?.stamps ?? [])
                    .subtracting(unanswered)
                if !back.isEmpty { fail("\(name): \(back.sorted()) were removed but are on the server") }
                for device in 0..<3 where !Model.keepsDrafts {
                    guard let drafts = drafts["\(name).\(device)"], drafts.count == 1 else { continue }
                    let draft = server[name]?[draft: device] ?? ""
                    if !drafts.contains(draft) {
                        fail("\(name): draft \(draft) on the server, expected \(drafts)")
                    }
                }
            }
            for (name, stamp) in last where server[name]?.stamps.contains(stamp) != true {
                fail("\(name): the last upload is missing on the server")
            }
            if options.writers == 1, !options.losesZone {
                let back = server.filter { gone.contains($0.key) }
                if !back.isEmpty { fail("were deleted but are on the server: \(back)") }
            }
            for app in apps {
                app.check(server)
                for line in app.brokenInvariants { fail("\(app.index): \(line)") }
            }
        }

        private func end() {
            for app in apps { app.end() }
            simulation.drain()
        }
    }
#endif
