#if os(Linux)
    @testable import CodableSync

    /// Two users share the devices; each user's uploads must reach only that user's records.
    extension StoryApp {
        /// Signs in one of two users, who may be signed in already.
        func changeUser() {
            let user = story.chance(2) == 0 ? "bob" : FakeCloud.defaultUser
            say("\(user) signs in")
            signIn(user)
        }

        /// Signs in a user once all requests that have arrived are processed.
        ///
        /// The fake processes a request as the user who is signed in at that time.
        func signIn(_ user: String) {
            let connections = formerConnections + [connection]
            while connections.contains(where: { $0.arrivingCount > 0 }), story.simulation.step() {}
            fake.signIn(user: user)
        }

        /// The users of all `accountChanged` events so far.
        private var toldUsers: [String] {
            events.withLock { $0.compactMap(\.signedInUser) }
        }

        /// The number of sign-ins reported so far, which identifies the current sign-in.
        var stay: Int { toldUsers.count }

        /// The user who owns the changes of a call made after this number of sign-ins.
        ///
        /// Changes made before the first reported sign-in belong to the first user.
        func owner(of stay: Int) -> String? {
            let users = toldUsers
            return stay == 0 ? firstUser.withLock { $0 } ?? users.first : users[stay - 1]
        }

        /// Discards copies of a previous user.
        func forgetFormerUser() {
            if rememberedStay != stay { remembered = [:] }
            rememberedStay = stay
        }
    }

    extension Locked<String?> {
        /// Notes the user who owns the state, until the app is told of one.
        ///
        /// The event about the first user is lost if the power fails after the user was stored.
        func note(_ user: String?, told events: Locked<[SyncEvent]>) {
            if events.withLock({ $0.contains { $0.signedInUser != nil } }) { return }
            withLock { $0 = user == nil ? nil : $0 ?? user }
        }
    }

    extension SyncEvent {
        /// The user who has signed in, if this reports one.
        fileprivate var signedInUser: String? {
            if case .accountChanged(_, let user) = self { user } else { nil }
        }
    }

    /// An upload that has returned, with the range of sign-ins during which it ran.
    struct StoryWrite {
        var stamp: String
        var number: Int
        var name: String
        var app: Int
        var stays: ClosedRange<Int>
    }

    extension JobStory {
        /// Syncs all devices to the end, first for one user and then for the other.
        func healUsers() {
            for user in ["bob", FakeCloud.defaultUser] {
                for app in apps { app.signIn(user) }
                heal()
                if !failures.isEmpty { return }
            }
        }

        /// Checks that each user's records have that user's uploads and none of the other user's.
        func checkUsers() {
            for user in ["bob", FakeCloud.defaultUser] {
                let server = server(of: user)
                for write in writes {
                    let owners = Set(write.stays.map { apps[write.app].owner(of: $0) })
                    guard owners.count == 1, let owner = owners.first ?? nil else { continue }
                    let isThere = server[write.name]?.stamps.contains(write.stamp) == true
                    if owner == user, !isThere, write.number > lastReplaced[write.name, default: 0] {
                        fail("\(write.stamp) of \(user) is missing in \(write.name)")
                    }
                    if owner != user, isThere, !carriedOver.contains(write.stamp) {
                        fail("\(user) has \(write.stamp) of \(owner) in \(write.name)")
                    }
                }
            }
        }
    }
#endif
