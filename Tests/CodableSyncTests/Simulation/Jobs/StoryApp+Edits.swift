#if os(Linux)
    import Foundation

    @testable import CodableSync

    /// Edits, drafts and rejected writes. Edits run concurrently with all other calls.
    extension StoryApp {
        /// Edits a record: adds a stamp and sometimes removes one.
        func editShown() {
            let name = story.names[story.chance(story.names.count)]
            story.lastStamp += 1
            let number = story.lastStamp
            let (stamp, takesOut) = (
                "\(index).\(number)", story.chance(4) == 0 && !story.options.changesUsers
            )
            let stay = stay
            let (engine, life, isNamed) = (engine, life, story.chance(2) == 0)
            say("edits \(name) with \(stamp)\(takesOut ? ", removing one" : "")")
            Task { [self] in
                do {
                    let change = { [self] (model: inout Model) in
                        var edits = model[edits: index]
                        if takesOut, let out = edits.first {
                            edits.removeFirst()
                            // The outcome is unknown until the call returns.
                            story.expected[name]?.remove(out)
                            story.perhapsOut[name, default: []].insert(out)
                        }
                        model[edits: index] = edits + [stamp]
                    }
                    let edit = try await noting(stamp, of: name) {
                        if isNamed { return try await engine.edit(named: name, change) }
                        return try await engine.edit(Model(name: name), ifMissing: .create, change)
                    }
                    // A process that has lost power receives no result.
                    guard life == self.life else { return }
                    let out = Set(edit.before[edits: index]).subtracting(edit.after[edits: index])
                    say("has edited \(name) with \(stamp), without \(out.sorted())")
                    if story.options.changesUsers {
                        return story.noteChange(stamp, number, of: name, by: self, since: stay)
                    }
                    // A later edit may have removed the stamp, and may be stored without returning.
                    if story.perhapsOut[name]?.contains(stamp) != true {
                        story.expected[name, default: []].insert(stamp)
                    }
                    story.acknowledged[name, default: []].insert(stamp)
                    story.expected[name]?.subtract(out)
                    story.takenOut[name, default: []].formUnion(out)
                } catch {
                    say("edit with \(stamp) failed: \(error)")
                }
            }
        }

        func delete() {
            let name = story.names[story.chance(story.names.count)]
            call("delete") { app, engine in
                app.say("deletes \(name)")
                app.story.deleted.insert(name)
                app.mirror[name] = nil
                app.remembered[name] = nil
                let life = app.life
                try await engine.delete(named: [name])
                if life == app.life { app.story.gone.insert(name) }
            }
        }

        /// Deletes all records, so that nothing may be left of them.
        func deleteAll() {
            let names = story.names
            story.deleted.formUnion(names)
            if case .success? = toEnd({ try await $0.delete(named: names) }) { story.gone.formUnion(names) }
        }

        /// Uploads all records, so that none may be missing.
        func uploadAll() {
            for name in story.names {
                story.lastStamp += 1
                let stamp = "\(index).\(story.lastStamp)"
                let uploaded = toEnd { [index] engine in
                    var model = try await engine.model(named: name) ?? Model(name: name)
                    model[edits: index].append(stamp)
                    try await engine.upload(model)
                }
                if case .success? = uploaded { story.last[name] = stamp }
                story.gone.remove(name)
            }
        }

        /// Makes the disk reject one of the next four writes.
        func refuseWrite() { refuseWrite(after: story.chance(4)) }

        /// Makes the disk reject a write after a number of others.
        func refuseWrite(after count: Int) {
            say("will reject a write after \(count) others")
            files.clearFaults()
            files.fail(
                .append,
                after: count,
                code: ENOSPC,
                torn: story.chance(2) == 0 ? story.chance(40) : nil
            )
        }

        /// Makes a call and records its stamp as rejected if the disk is full.
        func noting<Value>(
            _ stamp: String,
            of name: String,
            _ body: () async throws -> Value
        ) async throws -> Value {
            story.gone.remove(name)
            defer { story.gone.remove(name) }
            do {
                return try await body()
            } catch let error as SyncError where error.code == .storageFull {
                story.refused[name, default: []].insert(stamp)
                throw error
            }
        }

        /// The app's newest copy, which its uploads are based on.
        private func newestCopy(of name: String, _ engine: SyncEngine<Model>) async throws -> Model? {
            if consumes { return mirror[name] }
            remembered[name] = try await engine.model(named: name)
            return remembered[name]
        }

        /// Uploads a draft whose original may be an old copy.
        func draft() {
            // Two users have different records of one name.
            if story.options.changesUsers { return }
            let name = story.names[story.chance(story.names.count)]
            call("draft") { app, engine in
                var original = app.drafted[name] ?? Model(name: name)
                // Only this device changes the field, so a draft begins with the last one, if it is known.
                let drafts = app.story.drafts["\(name).\(app.index)"] ?? [""]
                if drafts.count == 1 {
                    // Later calls of this device replace its own unsent ones, so the original has all of these.
                    for draft in Model.keepsDrafts ? app.drafts[name] ?? [] : drafts {
                        original[draft: app.index] = draft
                    }
                } else {
                    original = try await engine.model(named: name) ?? Model(name: name)
                }
                if app.story.chance(2) == 0 { app.drafted[name] = try await app.newestCopy(of: name, engine) }
                app.story.lastStamp += 1
                let stamp = "\(app.index).\(app.story.lastStamp)"
                var draft = original
                draft[draft: app.index] = stamp
                app.say("drafts \(name) with \(stamp), from \(original.stamps)")
                app.story.drafts["\(name).\(app.index)", default: [""]].append(stamp)
                let life = app.life
                try await app.noting(stamp, of: name) { [draft, original] in
                    try await engine.upload(draft, editedFrom: original, ifMissing: .create)
                }
                guard life == app.life else { return }
                app.say("has drafted \(name) with \(stamp)")
                app.story.acknowledged[name, default: []].insert(stamp)
                if Model.keepsDrafts {
                    app.drafts[name, default: []].append(stamp)
                    app.story.expected[name, default: []].insert(stamp)
                }
                // An acknowledged draft replaces all earlier ones.
                app.story.drafts["\(name).\(app.index)"] = [stamp]
            }
        }
    }
#endif
