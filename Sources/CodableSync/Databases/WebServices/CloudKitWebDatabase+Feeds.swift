public import RecordCoding

extension CloudKitWebDatabase {
    /// Fetches a page of the database's changes.
    ///
    /// - Parameters:
    ///   - changeToken: The change token to continue from; `nil` reads from the beginning.
    ///   - resultsLimit: The maximum number of zones in the page; `nil` lets the services decide.
    /// - Returns: The page.
    /// - Throws: ``CloudError``; ``CloudError/Code-swift.enum/changeTokenExpired`` if the token can't be used.
    public func databaseChanges(
        since changeToken: ChangeToken?,
        resultsLimit: Int?
    ) async throws -> DatabaseChanges {
        let token = try changeToken.map(text)
        let body = try WebRequestBody.databaseChanges(since: token, resultsLimit: resultsLimit)
        let answer = try await answer("changes/database", body)
        if token != nil, answer.isTokenExpired { throw CloudError(.changeTokenExpired) }
        var changes = try WebResponse.databaseChanges(answer.success())
        changes.modifications = changes.modifications.map(\.ofCurrentUser)
        for index in changes.deletions.indices {
            changes.deletions[index].zoneID = changes.deletions[index].zoneID.ofCurrentUser
        }
        return changes
    }

    /// Fetches a page of a zone's changes; one that is too large is requested again with half as many records.
    ///
    /// - Parameters:
    ///   - zoneID: The zone.
    ///   - changeToken: The change token to continue from; `nil` reads from the beginning.
    ///   - desiredKeys: The fields to return; `nil` returns all.
    ///   - resultsLimit: The maximum number of records in the page; `nil` lets the services decide.
    /// - Returns: The page.
    /// - Throws: ``CloudError``; ``CloudError/Code-swift.enum/changeTokenExpired`` if the token can't be used.
    public func recordZoneChanges(
        inZoneWith zoneID: ZoneID,
        since changeToken: ChangeToken?,
        desiredKeys: [String]?,
        resultsLimit: Int?
    ) async throws -> ZoneChanges {
        let token = try changeToken.map(text)
        var limit = resultsLimit
        let database = ofOneUser
        while true {
            let body = try WebRequestBody.zoneChanges(
                in: zoneID,
                since: token,
                knownChangeTags: connection.takesKnownChangeTags ? changeToken?.knownChangeTags ?? [] : [],
                desiredKeys: desiredKeys,
                resultsLimit: limit
            )
            do throws(CloudError) {
                let answer = try await database.answer("changes/zone", body, isOfOneRecord: limit == 1)
                if token != nil, answer.isTokenExpired { throw CloudError(.changeTokenExpired) }
                let reader = WebReader(zoneID: zoneID)
                return try WebResponse.zoneChanges(answer.success(), reader, hadToken: token != nil)
            } catch {
                let size = min(limit ?? limits.maximumPageSize, limits.maximumPageSize)
                guard error.code == .limitExceeded, size > 1 else { throw error }
                limit = size / 2
            }
        }
    }

    /// The text of a token.
    ///
    /// - Throws: `changeTokenExpired` for a token that is not the services', or for which they would answer that
    ///   nothing has changed.
    private func text(_ token: ChangeToken) throws(CloudError) -> String {
        guard let text = token.web, !text.isEmpty else { throw CloudError(.changeTokenExpired) }
        return text
    }
}
