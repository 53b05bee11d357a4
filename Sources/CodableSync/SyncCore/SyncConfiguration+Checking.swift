import Foundation
import RecordCoding

/// Validating the configuration, in the first call that can throw, before any file access or request.
extension SyncConfiguration {
    private static var maximumDeadline: Duration { .seconds(24 * 3600) }
    private static var longestSendDelay: Duration { .seconds(60) }
    private static var shortestPoll: Duration { .seconds(1) }
    private static var longestPoll: Duration { .seconds(365 * 24 * 3600) }

    /// Checks all settings together with the model and the database.
    ///
    /// - Parameters:
    ///   - model: The model.
    ///   - zoneID: The zone according to the configuration and the model.
    ///   - database: The database of the engine.
    /// - Throws: ``SyncError/Code-swift.enum/configuration``, naming the setting, its value and the rule.
    func check(
        for model: any ModelRules,
        in zoneID: ZoneID,
        on database: any CloudDatabase
    ) throws {
        try checkNames(model.recordType, zoneID)
        guard model.schemaVersion >= 1 else {
            throw Self.invalid("schemaVersion", "is \(model.schemaVersion); it must be 1 or above")
        }
        try check(database)
        try checkStorage()
        try checkContainer()
        try checkTimes()
        try checkLimits(database.limits)
    }

    private func check(_ database: any CloudDatabase) throws {
        do throws(CloudError) {
            try database.nearest { $0 as? any ConfigurationChecking }?.checkConfiguration()
        } catch {
            throw SyncError(
                .configuration,
                message: SyncError.configuration(error.message).message,
                cloudError: error
            )
        }
        // The public database has no change feed, and a client cannot create zones in the shared one.
        guard database.scope == .private else {
            throw Self.invalid(
                "database",
                "is the \(database.scope.rawValue) database; an engine syncs the private one"
            )
        }
    }

    private func checkNames(_ recordType: String, _ zoneID: ZoneID) throws {
        do {
            try RecordLimits.checkRecordType(recordType)
        } catch {
            throw SyncError.configuration("recordType: \(error)")
        }
        do {
            try RecordLimits.checkZoneName(zoneID.zoneName)
        } catch {
            throw SyncError.configuration("zoneName: \(error)")
        }
        guard zoneID.zoneName != ZoneID.defaultZoneName else {
            throw Self.invalid("zoneName", "is the name of the default zone, which has no change feed")
        }
    }

    private func checkStorage() throws {
        guard case .directory(let url) = storage else { return }
        guard url.isFileURL else {
            throw Self.invalid(
                "storage",
                "is the URL \(url.absoluteString.quoted); it must be that of a directory on this device"
            )
        }
        // A zero byte would end the path early, so that it would name another directory.
        guard !url.path(percentEncoded: true).contains("%00") else {
            throw Self.invalid("storage", "is \(url.path.quoted); a path has no zero bytes")
        }
        guard !url.path.isEmpty else { throw Self.invalid("storage", "is an empty path; name a directory") }
    }

    private func checkContainer() throws {
        guard let name = containerIdentifier else { return }
        let isLegal = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"),
                UInt8(ascii: "_"):
                true
            default: false
            }
        }
        guard isLegal, (1...RecordLimits.maximumNameLength).contains(name.utf8.count) else {
            throw Self.invalid(
                "containerIdentifier",
                "is \(name.quoted); it must have 1 to \(RecordLimits.maximumNameLength) ASCII letters, "
                    + "digits, points, hyphens and underscores"
            )
        }
    }

    private func checkTimes() throws {
        guard requestDeadline > .zero, requestDeadline <= Self.maximumDeadline else {
            throw Self.invalid(
                "requestDeadline",
                "is \(requestDeadline); it must be above zero and at most \(Self.maximumDeadline)"
            )
        }
        guard sendDelay >= .zero, sendDelay <= Self.longestSendDelay else {
            throw Self.invalid(
                "sendDelay",
                "is \(sendDelay); it must be at least zero and at most \(Self.longestSendDelay)"
            )
        }
        guard let pollInterval else { return }
        guard pollInterval >= Self.shortestPoll, pollInterval <= Self.longestPoll else {
            throw Self.invalid(
                "pollInterval",
                "is \(pollInterval); it must be \(Self.shortestPoll) to \(Self.longestPoll), "
                    + "or nil for no polling"
            )
        }
    }

    /// Checks the database's limits, and the page size against them.
    private func checkLimits(_ limits: DatabaseLimits) throws {
        let numbers = [
            ("maximumItems", limits.maximumItems), ("maximumBytes", limits.maximumBytes),
            ("maximumRecordBytes", limits.maximumRecordBytes),
            ("maximumPageSize", limits.maximumPageSize),
        ]
        for (name, number) in numbers where number < 1 {
            throw Self.invalid("database.limits.\(name)", "is \(number); it must be 1 or above")
        }
        guard let size = fetchPageSize else { return }
        guard (1...limits.maximumPageSize).contains(size) else {
            throw Self.invalid(
                "fetchPageSize",
                "is \(size); this database allows 1 to \(limits.maximumPageSize)"
            )
        }
    }

    private static func invalid(_ setting: String, _ reason: String) -> SyncError {
        .configuration("\(setting) \(reason). Nothing was written; set another value.")
    }
}
