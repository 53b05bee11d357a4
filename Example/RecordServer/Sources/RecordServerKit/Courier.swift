@_spi(Server) import CodableSync
import Crypto
import Foundation
import RecordCoding

/// Holds polls for notifications, and answers them when a zone changes that their user subscribes to.
///
/// Notifications wait in a mailbox for each token, one for each subscription. They are in memory only: after a
/// restart, tokens are unknown, and clients create new ones. An actor, since polls and changes meet here.
actor Courier {
    /// What a poll ends with.
    enum Outcome: Sendable {
        /// A zone changed.
        case notification(PushNotification)
        /// Nothing happened in time; poll again.
        case nothing
        /// The token is not known; create another.
        case unknownToken
    }

    private struct Mailbox {
        let user: String
        let number: Int
        var waiting: [PushNotification] = []
        var poll: (number: Int, continuation: CheckedContinuation<Outcome, Never>)?
    }

    private static let maximumMailboxes = 256

    private let storage: any LedgerStorage
    private let container: String
    private let pollTime: Duration
    private var mailboxes: [SHA256.Digest: Mailbox] = [:]
    private var lastNumber = 0

    init(_ storage: any LedgerStorage, _ configuration: ServerConfiguration) {
        self.storage = storage
        container = configuration.container
        pollTime = .seconds(configuration.limits.pollSeconds)
    }

    /// Makes a token for polls of a user; the oldest of very many tokens ends.
    func makeToken(for user: String) -> String {
        let own = mailboxes.filter { $0.value.user == user }
        if own.count >= Self.maximumMailboxes, let oldest = own.min(by: { $0.value.number < $1.value.number })
        {
            end(oldest.key, with: .unknownToken)
            mailboxes[oldest.key] = nil
        }
        let token = Data(SymmetricKey(size: .bits256).withUnsafeBytes(Array.init)).base64URL
        mailboxes[Self.digest(token)] = Mailbox(user: user, number: nextNumber())
        return token
    }

    /// Waits for a notification; an earlier poll with the same token ends with nothing.
    func poll(_ token: String) async -> Outcome {
        let key = Self.digest(token)
        guard var mailbox = mailboxes[key] else { return .unknownToken }
        end(key, with: .nothing)
        if !mailbox.waiting.isEmpty {
            let first = mailbox.waiting.removeFirst()
            mailbox.poll = nil
            mailboxes[key] = mailbox
            return .notification(first)
        }
        let number = nextNumber()
        let timer = Task { [pollTime] in
            do { try await Task.sleep(for: pollTime) } catch { return }
            end(key, poll: number)
        }
        defer { timer.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { mailboxes[key]?.poll = (number, $0) }
        } onCancel: {
            Task { await self.end(key, poll: number) }
        }
    }

    /// Delivers the storage's changes until it is closed.
    func deliverChanges() async {
        for await change in storage.changes {
            guard mailboxes.values.contains(where: { $0.user == change.user }) else { continue }
            let request = LedgerRequest(user: change.user, scope: change.scope, operation: .allSubscriptions)
            do throws(CloudError) {
                let response = try await storage.perform(request, at: Date()).response
                guard case .allSubscriptions(let subscriptions) = response else { continue }
                for subscription in subscriptions where subscription.isAbout(change) {
                    deliver(PushNotification(change, subscription, container), to: change.user)
                }
            } catch {
                // Clients also fetch without notifications.
                continue
            }
        }
    }

    private func deliver(_ notification: PushNotification, to user: String) {
        for (key, mailbox) in mailboxes where mailbox.user == user {
            if mailbox.poll != nil {
                end(key, with: .notification(notification))
            } else {
                // One for each subscription is enough, since it only says that there is something to fetch.
                mailboxes[key]?.waiting.removeAll { $0.subscriptionID == notification.subscriptionID }
                mailboxes[key]?.waiting.append(notification)
            }
        }
    }

    private func end(_ key: SHA256.Digest, poll number: Int) {
        if mailboxes[key]?.poll?.number == number { end(key, with: .nothing) }
    }

    private func end(_ key: SHA256.Digest, with outcome: Outcome) {
        let poll = mailboxes[key]?.poll
        mailboxes[key]?.poll = nil
        poll?.continuation.resume(returning: outcome)
    }

    private func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    private static func digest(_ token: String) -> SHA256.Digest { SHA256.hash(data: Array(token.utf8)) }
}

/// The payload of a push, with the keys that were seen in CloudKit's.
struct PushNotification: Encodable, Sendable {
    private struct System: Encodable, Sendable {
        let available = 1

        enum CodingKeys: String, CodingKey { case available = "content-available" }
    }

    private struct Cloud: Encodable, Sendable {
        let ce = 2
        let cid: String
        let ckuserid: String
        let nid = UUID().uuidString
        var fet: Details?
        var met: Details?
    }

    /// The names are CloudKit's: scope, subscription, zone and its owner.
    private struct Details: Encodable, Sendable {
        let dbs: Int
        let sid: String
        let zid: String
        let zoid: String
    }

    private let aps = System()
    private let ck: Cloud

    let subscriptionID: String

    enum CodingKeys: CodingKey { case aps, ck }

    init(_ change: LedgerChange, _ subscription: CloudSubscription, _ container: String) {
        subscriptionID = subscription.subscriptionID
        let isOwn = change.zoneID.ownerName == ZoneID.currentUserOwnerName
        let details = Details(
            dbs: change.scope == .shared ? 3 : 1,
            sid: subscription.subscriptionID,
            zid: change.zoneID.zoneName,
            zoid: isOwn ? change.user : change.zoneID.ownerName
        )
        var cloud = Cloud(cid: container, ckuserid: change.user)
        switch subscription.kind {
        case .zone: cloud.fet = details
        case .database: cloud.met = details
        }
        ck = cloud
    }
}

extension CloudSubscription {
    fileprivate func isAbout(_ change: LedgerChange) -> Bool {
        switch kind {
        case .database: return change.zoneID.zoneName != ZoneID.defaultZoneName
        case .zone(let zoneID):
            func owner(_ zoneID: ZoneID) -> String {
                zoneID.ownerName == ZoneID.currentUserOwnerName ? change.user : zoneID.ownerName
            }
            return zoneID.zoneName == change.zoneID.zoneName && owner(zoneID) == owner(change.zoneID)
        }
    }
}
