extension LocalDatabase {
    /// Returns `available`, since there is always an account.
    ///
    /// - Returns: `available`.
    public func accountStatus() async throws -> AccountStatus { .available }

    /// Returns the user with which the database was created.
    ///
    /// - Returns: The user record name.
    public func userRecordName() async throws -> String { user }
}

// The requests of a database, which the ledger performs for the user.
@_spi(Server) extension LocalDatabase: LedgerBackedDatabase {
    /// Performs an operation in the directory; changes are on disk when the call returns.
    ///
    /// - Parameter operation: The operation.
    /// - Returns: The response.
    /// - Throws: ``CloudError`` if the request as a whole failed.
    public func response(
        to operation: LedgerRequest.Operation
    ) async throws(CloudError) -> LedgerResponse {
        let response: LedgerResponse
        do throws(LedgerDirectoryError) {
            let request = LedgerRequest(user: user, operation: operation)
            response = try await ledger.perform(request, at: clock.now.wall).response
        } catch {
            throw CloudError(error)
        }
        if case .failure(let error) = response { throw error }
        return response
    }
}

extension CloudError {
    /// Converts an error of the directory.
    init(_ error: LedgerDirectoryError) {
        let code: Code =
            switch error.code {
            // Every request would fail until a person has repaired the files.
            case .damaged, .notALedger, .tooOld, .closed: .badDatabase
            case .tooNew: .incompatibleVersion
            // Only the user can free space.
            case .outOfSpace: .quotaExceeded
            // A volume that is missing or locked may become available again.
            case .unreachable, .locked: .serviceUnavailable
            case .cancelled: .operationCancelled
            // Sending the request again shows whether it was performed.
            case .outcomeUnknown: .serverResponseLost
            }
        self.init(code, message: error.message)
    }
}
