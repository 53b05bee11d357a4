#if os(Linux)
    @testable import CodableSync

    /// Two users on the same devices: what one of them writes comes to their own data, and nowhere else.
    extension StoryApp {
        /// Signs somebody in, who may be there already.
        func changeUser() {
            let user = story.chance(2) == 0 ? "bob" : FakeCloud.defaultUser
            say("the user is \(user)")
            signIn(user)
        }

        /// Signs somebody in, once the requests that have arrived are processed: the fake takes a request for that of
        /// the user who is signed in when it processes it.
        func signIn(_ user: String) {
            let connections = formerConnections + [connection]
            while connections.contains(where: { $0.arrivingCount > 0 }), story.simulation.step() {}
            fake.signIn(user: user)
        }

        /// The users in all events `accountChanged` so far.
        private var toldUsers: [String] {
            events.withLock { events in
                events.compactMap { if case .accountChanged(_, let user?) = $0 { user } else { nil } }
            }
        }

        /// The number of users that the app was told of; it counts up with each switch.
        var stay: Int { toldUsers.count }

        /// The user whose data a call of a stay belongs to; what is written before anybody is known is the first user's.
        func owner(of stay: Int) -> String? {
            let users = toldUsers
            return stay == 0 ? users.first : users[stay - 1]
        }

        /// Forgets copies of a former user.
        func forgetFormerUser() {
            if rememberedStay != stay { remembered = [:] }
            rememberedStay = stay
        }
    }

    /// An upload that has returned, and the stays during which it began and ended.
    struct StoryWrite {
        var stamp: String
        var number: Int
        var name: String
        var app: Int
        var stays: ClosedRange<Int>
    }

    extension JobStory {
        /// All devices come to rest with the one user, and then with the other.
        func healUsers() {
            for user in ["bob", FakeCloud.defaultUser] {
                for app in apps { app.signIn(user) }
                heal()
                if !failures.isEmpty { return }
            }
        }

        /// Everybody's records have what they wrote, and nothing of anybody else.
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
