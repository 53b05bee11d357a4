@_spi(Server) import CodableSync
import Crypto
import Foundation
import RecordCoding

/// Holds polls for notifications, and answers them when a zone changes that their user subscribes to.
///
/// Notifications wait in a mailbox for each token, one for each subscription, until an answer with them was sent. They
/// are in memory only: after a restart, tokens are unknown, and clients create new ones. An actor, since polls and
/// changes meet here.
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
    private static let timeBetweenLooks = Duration.milliseconds(250)

    private let storage: any LedgerStorage
    private let container: String
    private let pollTime: Duration
    private var mailboxes: [SHA256.Digest: Mailbox] = [:]
    private var lastNumber = 0
    /// For each user, up to where the database's feed was read for the changes of other processes.
    private var positions: [String: ChangeToken] = [:]

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

    /// Waits for a notification, which stays in the mailbox until it is confirmed; an earlier poll with the same token
    /// ends with nothing.
    func poll(_ token: String) async -> Outcome {
        let key = Self.digest(token)
        guard let mailbox = mailboxes[key] else { return .unknownToken }
        end(key, with: .nothing)
        if let first = mailbox.waiting.first { return .notification(first) }
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

    /// Removes a notification whose answer was sent.
    func confirm(_ notification: PushNotification, to token: String) {
        mailboxes[Self.digest(token)]?.waiting.removeAll { $0.id == notification.id }
    }

    // MARK: Changes

    /// Delivers the storage's changes until it is closed.
    func deliverChanges() async {
        for await change in storage.changes { await deliver(change) }
    }

    /// Delivers the changes that other processes make in a directory, until the task is cancelled.
    func deliverChanges(byOthersIn directory: LedgerDirectory) async {
        var delivered = 0
        while !Task.isCancelled {
            do throws(CloudError) {
                let found = try await directory.changesByOthers()
                if found > delivered {
                    for user in Set(mailboxes.values.map(\.user)) { try await deliverFeed(of: user) }
                    delivered = found
                }
            } catch {
                // The directory can't be used at the moment; the next look finds the change.
            }
            do { try await Task.sleep(for: Self.timeBetweenLooks) } catch { return }
        }
    }

    /// Delivers each zone that was changed since the last time, by whomever; at first, every zone.
    private func deliverFeed(of user: String) async throws(CloudError) {
        var isComplete = false
        while !isComplete {
            let operation = LedgerRequest.Operation.databaseChanges(
                since: positions[user],
                resultsLimit: nil
            )
            let request = LedgerRequest(user: user, operation: operation)
            let response = try await storage.perform(request, at: Date()).response
            guard case .databaseChanges(let changes) = response else {
                // The position is one of a lost history.
                if positions.removeValue(forKey: user) == nil { return }
                continue
            }
            positions[user] = changes.changeToken
            isComplete = !changes.moreComing
            for zoneID in changes.modifications + changes.deletions.map(\.zoneID) {
                await deliver(LedgerChange(user: user, scope: .private, zoneID: zoneID))
            }
        }
    }

    /// Delivers a change to the user's devices, by the subscriptions that are about it.
    func deliver(_ change: LedgerChange) async {
        guard mailboxes.values.contains(where: { $0.user == change.user }) else { return }
        let request = LedgerRequest(user: change.user, scope: change.scope, operation: .allSubscriptions)
        do throws(CloudError) {
            let response = try await storage.perform(request, at: Date()).response
            guard case .allSubscriptions(let subscriptions) = response else { return }
            for subscription in subscriptions where subscription.isAbout(change) {
                deliver(PushNotification(change, subscription, container), to: change.user)
            }
        } catch {
            // Clients also fetch without notifications.
            return
        }
    }

    private func deliver(_ notification: PushNotification, to user: String) {
        for (key, mailbox) in mailboxes where mailbox.user == user {
            // One for each subscription is enough, since it only says that there is something to fetch.
            mailboxes[key]?.waiting.removeAll { $0.subscriptionID == notification.subscriptionID }
            mailboxes[key]?.waiting.append(notification)
            end(key, with: .notification(notification))
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

    var id: String { ck.nid }

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
