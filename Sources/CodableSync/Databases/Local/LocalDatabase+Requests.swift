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
        let request = LedgerRequest(user: user, operation: operation)
        let response = try await ledger.perform(request, at: clock.now.wall).response
        if case .failure(let error) = response { throw error }
        return response
    }
}
