#if os(Linux)
    import Foundation

    @testable import CodableSync

    /// What may happen in a story.
    struct StoryOptions {
        /// Devices that write; others read and sync.
        var writers = 3
        var deletes = false
        /// Requests and answers are lost, and refused.
        var faults = true
        /// Pages and look-ups cannot read single records.
        var hidesRecords = true
        var crashes = true
        /// Disks refuse single writes.
        var refusesWrites = false
        /// The one write that the disk of one device refuses, counted from 0.
        var refusedWrite: Int?
        var expiresTokens = true
        var losesZone = true
        /// Other users sign in.
        var changesUsers = false
        /// Apps that make their copy from the stream, beside those that read.
        var consumes = true
        /// So many choices before the trouble stops.
        var length = 300

        init() {}
    }

    enum StoryLog {
        /// Whether logs are printed line by line.
        static let isPrinted = ProcessInfo.processInfo.environment["LOG"] != nil
    }

    /// A story of devices and one cloud in which a seed decides which job of which engine runs next, and what falls
    /// between any two of them.
    ///
    /// Calls of an app, answers, faults, power cuts and time come while jobs of the engines wait. At the end the trouble
    /// stops and everybody syncs; then nothing that a call returned for may be missing.
    ///
    /// `@unchecked Sendable` holds because the thread of the simulation alone uses it.
    final class JobStory<Model: StoryModel>: @unchecked Sendable {
        let seed: UInt64
        let options: StoryOptions
        /// Whether the log is kept; without it a story is quicker.
        let keepsLog: Bool
        let simulation: JobSimulation
        let clock = ManualClock()
        let cloud: FakeCloud
        let zoneID = ZoneID(zoneName: "Item")
        let names: [String]
        var apps: [StoryApp<Model>] = []
        var random: SplitMix64
        var lastStamp = 0
        /// What must be there at the end, by record.
        var expected: [String: Set<String>] = [:]
        var deleted: Set<String> = []
        /// Stamps of calls that have returned, by record; of others nobody knows.
        var acknowledged: [String: Set<String>] = [:]
        /// What must not be there at the end, by record.
        var takenOut: [String: Set<String>] = [:]
        /// Stamps of calls that were refused, by record.
        var refused: [String: Set<String>] = [:]
        /// The drafts one of which must be there at the end, by record and device: the last that is acknowledged, and
        /// those after it.
        var drafts: [String: [String]] = [:]
        /// Uploads that have returned, where users change.
        var writes: [StoryWrite] = []
        /// Stamps that an app has written to the next user's records, since it was not told yet of the switch.
        var carriedOver: Set<String> = []
        /// By record, the number of the last stamp that such an upload may have replaced.
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
            cloud = FakeCloud(identifier: "story", date: { clock.now.wall })
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

        /// One number out of so many, by chance.
        func chance(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

        /// Tells the story.
        func run() {
            StampFields.createdTwice.withLock { $0 = [] }
            for app in apps { app.begin() }
            var left = options.length
            while left > 0, failures.isEmpty {
                left -= 1
                // Mostly jobs of the engines; seldom until nothing is left to do.
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
            case 25..<30: app.read()
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
            case 90..<92: if options.faults { pass(.seconds(61)) }
            default: pass(.seconds(chance(options.faults ? 20 : 2)))
            }
        }

        private func write(_ app: StoryApp<Model>) {
            // An upload replaces the record as the app has it, and takes edits with it that the app was not given.
            guard Model.hasFields else { return app.upload() }
            if chance(3) == 0 { return app.draft() }
            for _ in 0...chance(3) { app.editShown() }
        }

        /// For a while the network of a device is quick.
        private func flow(_ app: StoryApp<Model>) {
            for _ in 0..<chance(40) {
                app.deliver()
                for _ in 0..<chance(30) where !simulation.step() { break }
            }
        }

        private func pass(_ duration: Duration) {
            say("\(duration) pass")
            clock.advance(by: duration)
        }

        private func expireTokens() {
            say("tokens expire")
            do { try cloud.expireTokens(in: zoneID) } catch { say("\(error)") }
        }

        private func loseZone() {
            do {
                try cloud.resetEncryptedData(in: zoneID)
                say("the zone is lost")
            } catch {
                say("\(error)")
            }
        }

        /// An upload has returned.
        func noteUpload(of model: Model, _ number: Int, by app: StoryApp<Model>, since stay: Int) {
            let (name, stamp) = (model.recordName, "\(app.index).\(number)")
            guard options.changesUsers else {
                expected[name, default: []].insert(stamp)
                acknowledged[name, default: []].insert(stamp)
                return
            }
            writes.append(
                StoryWrite(stamp: stamp, number: number, name: name, app: app.index, stays: stay...app.stay)
            )
            if app.stay > stay {
                carriedOver.formUnion(model.stamps)
                lastReplaced[name] = lastStamp
            }
        }

        // MARK: The end

        /// The trouble stops, and everybody syncs until nobody has anything to do.
        func heal() {
            say("heal")
            for app in apps { app.mend() }
            simulation.drain()
            for round in 0..<40 {
                var work = 0
                for app in apps {
                    clock.advance(by: .seconds(3600))
                    guard let found = app.syncToEnd() else { return fail("standstill of \(app.index)") }
                    work += found
                }
                if work == 0, round > 2 { return }
            }
            fail("no rest")
        }

        func server(of user: String = FakeCloud.defaultUser) -> [String: Model] {
            cloud.records(user: user, in: zoneID).compactMapValues { record in
                do {
                    return try RecordDecoder().decode(Model.self, from: record)
                } catch {
                    fail("\(record.recordID.recordName): \(error)")
                    return nil
                }
            }
        }

        private func check() {
            let server = server()
            for name in expected.keys.sorted() where !deleted.contains(name) {
                let missing = expected[name, default: []].subtracting(server[name]?.stamps ?? [])
                if !missing.isEmpty { fail("\(name): \(missing.sorted()) missing on the server") }
                let stays = refused[name, default: []].intersection(server[name]?.stamps ?? [])
                if !stays.isEmpty { fail("\(name): \(stays.sorted()) were refused, and are on the server") }
                if StampFields.createdTwice.withLock({ $0.contains(name) }) { continue }
                let back = takenOut[name, default: []].intersection(server[name]?.stamps ?? [])
                if !back.isEmpty { fail("\(name): \(back.sorted()) are back on the server") }
                for device in 0..<3 {
                    guard let drafts = drafts["\(name).\(device)"], drafts.count == 1 else { continue }
                    let draft = server[name]?[draft: device] ?? ""
                    if !drafts.contains(draft) {
                        fail("\(name): \(draft) instead of \(drafts) on the server")
                    }
                }
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
