import RecordCoding

extension RecordService {
    func listSubscriptions(_ call: Call) async throws(CloudError) -> Answer {
        let subscriptions = try await subscriptions(call)
        return .success { writer in
            writer.objects("subscriptions", subscriptions) { $0.subscription($1, call) }
        }
    }

    func lookUpSubscriptions(_ call: Call) async throws(CloudError) -> Answer {
        guard let items = try call.body.objects("subscriptions") else {
            throw call.body.missing("subscriptions")
        }
        var ids: [String] = []
        for item in items {
            guard let id = try item.text("subscriptionID") else { throw item.missing("subscriptionID") }
            ids.append(id)
        }
        let subscriptions = try await subscriptions(call)
        return .success { writer in
            writer.objects("subscriptions", ids) { writer, id in
                if let found = subscriptions.first(where: { $0.subscriptionID.isIdentical(to: id) }) {
                    writer.subscription(found, call)
                } else {
                    writer.text("subscriptionID", id)
                    writer.failure(CloudError(.unknownItem), options)
                }
            }
        }
    }

    private func subscriptions(_ call: Call) async throws(CloudError) -> [CloudSubscription] {
        let response = try await perform(.allSubscriptions, call)
        guard case .allSubscriptions(let subscriptions) = response else { throw response.unexpected }
        return subscriptions
    }

    func modifySubscriptions(_ call: Call) async throws(CloudError) -> Answer {
        guard let operations = try call.body.objects("operations") else {
            throw call.body.missing("operations")
        }
        try checkCount(operations.count)
        var (saving, deleting, ids): ([CloudSubscription], [String], [String]) = ([], [], [])
        for operation in operations {
            guard let subscription = try operation.object("subscription") else {
                throw operation.missing("subscription")
            }
            guard let id = try subscription.text("subscriptionID") else {
                throw subscription.missing("subscriptionID")
            }
            switch try operation.text("operationType") {
            case "create", "update": saving.append(try subscription.asSubscription(id))
            case "delete": deleting.append(id)
            case nil: throw operation.missing("operationType")
            case let type?: throw .badRequest("\(type.abbreviated) is no operationType of subscriptions")
            }
            ids.append(id)
        }
        let response = try await perform(.modifySubscriptions(saving: saving, deleting: deleting), call)
        guard case .modifySubscriptions(let result) = response else { throw response.unexpected }
        return .success { writer in
            writer.objects("subscriptions", ids) { writer, id in
                switch (result.saveResults[id], result.deleteResults[id]) {
                case (.success(let subscription)?, _):
                    writer.subscription(subscription, call)
                case (.failure(let error)?, _), (nil, .some(.some(let error))):
                    writer.text("subscriptionID", id)
                    writer.failure(error, options)
                case (nil, .some(nil)), (nil, nil):
                    writer.text("subscriptionID", id)
                    writer.deleted()
                }
            }
        }
    }
}

extension ServiceBody {
    fileprivate func asSubscription(_ id: String) throws(CloudError) -> CloudSubscription {
        switch try text("subscriptionType")?.lowercased() {
        case "zone":
            guard let zoneID = try zoneID("zoneID") else { throw missing("zoneID") }
            return CloudSubscription(subscriptionID: id, kind: .zone(zoneID))
        // Uncertain: whether the live service has these.
        case "database": return CloudSubscription(subscriptionID: id, kind: .database)
        case nil: throw missing("subscriptionType")
        case let type?: throw .badRequest("this server has no subscriptions of type \(type.abbreviated)")
        }
    }
}

extension JSONWriter {
    fileprivate mutating func subscription(_ subscription: CloudSubscription, _ call: Call) {
        text("subscriptionID", subscription.subscriptionID)
        switch subscription.kind {
        case .zone(let zoneID):
            text("subscriptionType", "zone")
            self.zoneID(zoneID, namingOwner: call.request.user)
        case .database:
            text("subscriptionType", "database")
        }
    }
}
