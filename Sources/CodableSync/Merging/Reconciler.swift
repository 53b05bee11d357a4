import RecordCoding

import struct Foundation.Date

/// The result of reconciling a conflict.
enum Reconciliation: Sendable {
    /// The server has these contents, saved by this device or by another one.
    case confirmed(ContentHandle, isOwn: Bool)
    case client
    /// This device's model, with the date of the cloud's version.
    case redated(Record, edited: Date?)
    case merged(Record, edited: Date?)
    case server
    case failed(ParkReason)
}

/// The stored contents of a conflict.
struct ConflictContents: Sendable {
    var item: ReconcileItem
    var client: Record?
    var server: Record?
    var ancestor: Record?
    /// The edit of this device that is decided against first.
    var side: Record?
    /// This device's creation of the record, if it may not have been sent.
    var creation: Record?
    /// The version that the edit was made on, if it was lost with its zone and can be read.
    var lostBase: Record?
    /// Saves whose responses were lost, as far as their contents can be read.
    var lost: [LostWrite]
}

extension ConflictContents {
    /// Whether the cloud's version has the contents on which the edit was based, under another change tag.
    ///
    /// Usually it is this device's own save, which the app edited before it was confirmed.
    fileprivate var isUnchangedOnServer: Bool {
        guard let ancestor, let client, let server else { return false }
        // Fields that the model does not know do not count.
        return ancestor.fields.differingFields(from: server.fields).allSatisfy {
            ancestor.fields[$0] == nil && client.fields[$0] == nil
        }
    }
}

/// Reconciles an edit with the cloud's latest version, as a pure function of the contents and the model's
/// resolver.
struct Reconciler<Model: RecordCodable>: Sendable {
    var coding: ModelCoding<Model>

    func reconcile(_ contents: ConflictContents) -> (Reconciliation, wasAsked: Bool) {
        guard let client = contents.client else {
            return (
                .failed(ParkReason(kind: .contentsUnreadable, message: "The stored edit is missing.")), false
            )
        }
        if contents.item.side != nil {
            guard let side = contents.side else {
                let reason = "The stored edit that the draft meets is missing."
                return (.failed(ParkReason(kind: .contentsUnreadable, message: reason)), false)
            }
            var contents = contents
            contents.lost = []
            contents.creation = nil
            let isLost = contents.item.side?.ancestor == nil
            return (isLost ? overLostSide(client, side, contents) : resolve(client, side, contents), true)
        }
        guard let server = contents.server else {
            guard contents.item.server == nil else {
                let reason = "The stored server version is missing."
                return (.failed(ParkReason(kind: .contentsUnreadable, message: reason)), false)
            }
            return (resolveDeletion(of: client, contents), true)
        }
        let own = contents.lost.filter { $0.record.agrees(with: server) && $0.record.isEdit(in: server) }
        if client.agrees(with: server) {
            let isOwn = own.contains { $0.handle == contents.item.client }
            return (.confirmed(contents.item.client, isOwn: isOwn), false)
        }
        if let write = own.first { return (.confirmed(write.handle, isOwn: true), false) }
        if let lost = contents.lostBase { return (overLost(client, lost, server, contents), true) }
        if contents.isUnchangedOnServer { return (.client, false) }
        if let unasked = unchangedForModel(client, server, contents) { return (unasked, false) }
        return (resolve(client, server, contents), true)
    }

    /// The edit over a version of the cloud in which nothing has changed that the model shows: the model gives
    /// a field its default value that the record lacked, or does not know the field or a part of its value.
    ///
    /// The edit keeps the cloud's values of the fields that it does not change.
    private func unchangedForModel(
        _ client: Record,
        _ server: Record,
        _ contents: ConflictContents
    ) -> Reconciliation? {
        guard let ancestor = contents.ancestor else { return nil }
        do {
            let former = try coding.shownFields(of: ancestor)
            let current = try coding.shownFields(of: server)
            guard current.differingFields(from: former).isEmpty else { return nil }
            let edited = shownFields(of: contents.completed(client))
            let kept = edited.unchanged(from: server.fields, shownAs: current)
            var record = client
            record.fields.merge(kept.filter { client.fields[$0.key] != nil }) { $1 }
            if record.agrees(with: client) { return .client }
            try RecordLimits.checkSize(of: record)
            return .redated(record, edited: contents.item.clientEdited)
        } catch {
            // Without both versions of the cloud, there is no such comparison.
            return nil
        }
    }

    // MARK: Edit against edit

    func resolve(_ edit: Record, _ server: Record, _ contents: ConflictContents) -> Reconciliation {
        let client = contents.completed(edit)
        let others = [contents.item.client, contents.item.creation]
        let sent = contents.lost.filter { $0.base == nil && !others.contains($0.handle) }.map(\.record)
        let creations = contents.ancestor == nil ? [contents.creation].compactMap { $0 } + sent : []
        let serverModel: Model
        let clientModel: Model
        do {
            serverModel = try coding.decode(client.over(server, created: creations))
        } catch {
            return .failed(ParkReason(kind: .serverValueUndecodable, message: coding.describe(error)))
        }
        do {
            clientModel = try coding.decode(client)
        } catch {
            return .failed(ParkReason(kind: .contentsUnreadable, message: coding.describe(error)))
        }
        let clientEdited = contents.item.clientEdited
        var serverEdited = server.cloudEditDate
        // A draft is later than the edit of this device that it meets, even at the same time.
        if contents.item.side?.isOwn == true, let clientEdited, serverEdited >= clientEdited {
            serverEdited = clientEdited.addingTimeInterval(-0.001)
        }
        do {
            let ancestor = try CommonAncestor.reconstruct(
                from: contents.ancestor,
                server: server,
                lost: contents.lost
            ) {
                UnknownAncestor(
                    client: client,
                    server: server,
                    shownClient: shownFields(of: client),
                    shownServer: shownFields(of: server),
                    defaults: try Model.defaultFields(),
                    isClientLater: (clientEdited ?? .distantPast) > serverEdited
                )
            }
            var conflict = Conflict(
                client: clientModel,
                server: serverModel,
                ancestor: self.ancestor(ancestor),
                clientEdited: clientEdited ?? .distantPast,
                serverEdited: serverEdited
            )
            if let creation = creations.first, let created = creation.editDate?.clamped,
                created <= serverEdited
            {
                conflict.olderFields = client.fieldsUnchanged(since: creation)
            }
            guard let resolved = try Model.resolveConflict(conflict) else { return .server }
            let edited = clientEdited.map { max($0, serverEdited) }
            var record = try coding.encode(resolved, named: client.recordID.recordName, edited: edited)
            record.systemFields = server.systemFields
            let fields = record.fields
            let serverFields = shownFields(of: server)
            try coding.checkReferences(fields.filter { !fields.isSame($0.key, in: serverFields) })
            record.fields.merge(fields.unchanged(from: server.fields, shownAs: serverFields)) { $1 }
            try RecordLimits.checkSize(of: record)
            // The server's record may lack a field that has a default.
            if record.agrees(with: server) || fields.differingFields(from: serverFields).isEmpty {
                return .server
            }
            if record.isSame(as: edit, on: server, shown: client) {
                return edited == clientEdited ? .client : .redated(record, edited: edited)
            }
            return .merged(record, edited: edited)
        } catch {
            return .failed(ParkReason(kind: .resolverFailed, message: coding.describe(error)))
        }
    }

    /// The fields of a record as the model shows them; as they are stored if it cannot show the record.
    func shownFields(of record: Record) -> [String: RecordValue] {
        do { return try coding.shownFields(of: record) } catch { return record.fields }
    }

    /// Decodes the ancestor; if that fails, the resolver gets none.
    private func ancestor(_ record: Record?) -> Model? {
        guard let record else { return nil }
        do { return try coding.decode(record) } catch { return nil }
    }

    // MARK: Edit against deletion

    private func resolveDeletion(of edit: Record, _ contents: ConflictContents) -> Reconciliation {
        let (client, item) = (contents.completed(edit), contents.item)
        do {
            let model = try coding.decode(client)
            guard let kept = try Model.resolveDeletion(of: model) else { return .server }
            let name = client.recordID.recordName
            var record = try coding.encode(kept, named: name, edited: item.clientEdited)
            try coding.checkReferences(record.fields)
            let stored = record.fields.unchanged(from: client.fields, shownAs: shownFields(of: client))
            record.fields.merge(stored) { $1 }
            try RecordLimits.checkSize(of: record)
            if record.isSame(as: edit, on: nil, shown: client) { return .client }
            return .merged(record, edited: item.clientEdited)
        } catch {
            return .failed(ParkReason(kind: .resolverFailed, message: coding.describe(error)))
        }
    }
}

extension Record {
    /// Whether this record, made by a resolver, is an edit as the app shows it, and stays so on top of a
    /// version of the server.
    fileprivate func isSame(as edit: Record, on server: Record?, shown: Record) -> Bool {
        edit.agrees(with: self) && agrees(with: shown) && agrees(with: edit.completed(from: server))
    }

    /// Whether the server's record may be this edit rather than a later one with equal contents.
    fileprivate func isEdit(in server: Record) -> Bool {
        guard let editDate, let found = server.editDate else { return true }
        return editDate == found
    }

    /// The server's version, with this edit's values of the fields that the server has as this device created them.
    ///
    /// No other device has changed these fields since. An unanswered creation says nothing about the other fields,
    /// because two devices may have created the same record.
    fileprivate func over(_ server: Record, created creations: [Record]) -> Record {
        var result = server
        for creation in creations {
            for (name, value) in creation.fields where !ReservedField.isReserved(name) {
                guard value.isSame(as: server.fields[name] ?? .null) else { continue }
                result.fields[name] = fields[name] ?? .null
            }
        }
        return result
    }

    /// The fields that are as this device created them, so that they are as old as the creation.
    fileprivate func fieldsUnchanged(since creation: Record) -> Set<String> {
        Set(creation.fields.keys.filter { fields.isSame($0, in: creation.fields) })
    }

    /// When the edit in the cloud was made, according to its writer, but no later than the server saved it.
    var cloudEditDate: Date {
        let saved = systemFields?.modificationDate?.clamped
        guard let edited = editDate?.clamped else { return saved ?? .distantPast }
        guard let saved else { return edited }
        return min(edited, saved)
    }
}
