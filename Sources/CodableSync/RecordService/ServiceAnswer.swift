import RecordCoding

import struct Foundation.Date

extension RecordService.Answer {
    /// The answer to a request that was carried out.
    static func success(_ members: (inout JSONWriter) -> Void) -> RecordService.Answer {
        var writer = JSONWriter()
        writer.beginObject()
        members(&writer)
        writer.endObject()
        return RecordService.Answer(status: 200, body: writer.bytes)
    }

    /// The answer to a request that failed as a whole.
    ///
    /// - Parameters:
    ///   - error: Why it failed.
    ///   - options: How expired tokens are refused.
    /// - Returns: The answer.
    static func refusal(_ error: CloudError, _ options: RecordServiceOptions) -> RecordService.Answer {
        var answer = success { $0.failure(error, options) }
        answer.status = error.service.status
        answer.retryAfter = error.retrySeconds
        return answer
    }

    /// Makes the answer that a server gives before a service sees the request.
    ///
    /// - Parameters:
    ///   - status: The HTTP status.
    ///   - code: The code, such as `AUTHENTICATION_FAILED`.
    ///   - reason: What is wrong, for developers.
    ///   - retryAfter: In how many seconds the client may try again.
    ///   - redirectURL: Where the user signs in.
    /// - Returns: The answer.
    @_spi(Server) public static func refusal(
        status: Int,
        code: String,
        reason: String,
        retryAfter: Int? = nil,
        redirectURL: String? = nil
    ) -> RecordService.Answer {
        var answer = success { writer in
            writer.text("serverErrorCode", code)
            writer.text("reason", reason)
            if let retryAfter {
                writer.key("retryAfter")
                writer.int(Int64(retryAfter))
            }
            writer.text("redirectURL", redirectURL)
        }
        answer.status = status
        answer.retryAfter = retryAfter
        return answer
    }
}

extension CloudError {
    /// The services' code for the error, and the status of a request that failed with it.
    ///
    /// The source is
    /// [Error Codes](https://developer.apple.com/library/archive/documentation/DataManagement/Conceptual/CloudKitWebServicesReference/ErrorCodes.html);
    /// `LIMIT_EXCEEDED` is not on that page.
    var service: (code: String, status: Int) {
        switch code {
        case .batchRequestFailed: ("ATOMIC_ERROR", 400)
        case .changeTokenExpired, .invalidArguments: ("BAD_REQUEST", 400)
        case .constraintViolation: ("UNIQUE_FIELD_ERROR", 409)
        case .limitExceeded: ("LIMIT_EXCEEDED", 413)
        case .notAuthenticated: ("AUTHENTICATION_REQUIRED", 421)
        case .permissionFailure: ("ACCESS_DENIED", 403)
        case .quotaExceeded: ("QUOTA_EXCEEDED", 413)
        case .referenceViolation: ("VALIDATING_REFERENCE_ERROR", 412)
        case .requestRateLimited: ("THROTTLED", 429)
        case .serverRecordChanged: ("CONFLICT", 409)
        // A save without a change tag found a record.
        case .serverRejectedRequest: ("EXISTS", 409)
        // The request had no effect, and may succeed when it is repeated.
        case .serviceUnavailable, .zoneBusy, .operationCancelled: ("TRY_AGAIN_LATER", 503)
        case .unknownItem: ("NOT_FOUND", 404)
        case .zoneNotFound, .userDeletedZone: ("ZONE_NOT_FOUND", 404)
        default: ("INTERNAL_ERROR", 500)
        }
    }

    /// In how many seconds the client may try again; every temporary refusal says so.
    fileprivate var retrySeconds: Int? {
        if let retryAfter { return Int(clamping: max(1, retryAfter.components.seconds)) }
        return [429, 503].contains(service.status) ? 1 : nil
    }
}

// MARK: - The parts of an answer

extension JSONWriter {
    /// Writes the value of a key as a list of objects.
    mutating func objects<Element>(
        _ name: String,
        _ elements: some Sequence<Element>,
        _ members: (inout JSONWriter, Element) -> Void
    ) {
        key(name)
        beginArray()
        for element in elements {
            beginObject()
            members(&self, element)
            endObject()
        }
        endArray()
    }

    /// Writes why a request or an item failed.
    mutating func failure(_ error: CloudError, _ options: RecordServiceOptions) {
        if error.code == .changeTokenExpired {
            switch options.expiredToken {
            case .badRequest:
                text("serverErrorCode", "BAD_REQUEST")
                text("reason", "Unknown sync continuation type")
            case .changeTokenExpired:
                text("serverErrorCode", "CHANGE_TOKEN_EXPIRED")
                text("reason", error.message)
            }
            return
        }
        text("serverErrorCode", error.service.code)
        text("reason", error.message)
        if let seconds = error.retrySeconds {
            key("retryAfter")
            int(Int64(seconds))
        }
    }

    mutating func deleted() {
        key("deleted")
        bool(true)
    }

    /// Writes the ID of a zone with its owner, whom answers always name.
    mutating func zoneID(_ zoneID: ZoneID, namingOwner user: String) {
        let isOwn = zoneID.ownerName.isIdentical(to: ZoneID.currentUserOwnerName)
        let isDefault = zoneID.zoneName == ZoneID.defaultZoneName
        key("zoneID")
        beginObject()
        text("zoneName", zoneID.zoneName)
        text("ownerRecordName", isOwn ? user : zoneID.ownerName)
        text("zoneType", isDefault ? "DEFAULT_ZONE" : "REGULAR_CUSTOM_ZONE")
        endObject()
    }

    /// Writes the members of a record.
    ///
    /// - Parameters:
    ///   - record: The record.
    ///   - desiredKeys: The fields to write; `nil` writes all.
    /// - Throws: `invalidArguments` for values that JSON can't express.
    mutating func record(_ record: Record, desiredKeys: [String]?) throws(CloudError) {
        var record = record
        if let desiredKeys { record.fields = record.fields.filter { desiredKeys.contains($0.key) } }
        text("recordName", record.recordID.recordName)
        text("recordType", record.recordType)
        text("recordChangeTag", record.recordChangeTag)
        try fields(of: record, clears: false)
        parent(record.parent)
        moment("created", record.systemFields?.creationDate, record.systemFields?.creatorUserRecordName)
        moment(
            "modified",
            record.systemFields?.modificationDate,
            record.systemFields?.lastModifiedUserRecordName
        )
        key("deleted")
        bool(false)
    }

    /// Writes an item of a list of records.
    mutating func item(
        _ name: String,
        _ result: Result<Record, CloudError>,
        desiredKeys: [String]? = nil,
        _ options: RecordServiceOptions
    ) {
        var item = JSONWriter()
        do throws(CloudError) {
            let record = try result.get()
            try item.object { item throws(CloudError) in try item.record(record, desiredKeys: desiredKeys) }
        } catch {
            item = JSONWriter()
            item.beginObject()
            item.text("recordName", name)
            item.failure(error, options)
            item.endObject()
        }
        raw(item.bytes)
    }

    private mutating func moment(_ name: String, _ date: Date?, _ user: String?) {
        guard let milliseconds = date?.milliseconds else { return }
        key(name)
        beginObject()
        key("timestamp")
        int(milliseconds)
        text("userRecordName", user)
        endObject()
    }
}
