extension FakeDatabase {
    /// Looks up the account's status.
    ///
    /// - Returns: The account's status.
    /// - Throws: ``CloudError`` if a fault applies.
    public func accountStatus() async throws -> AccountStatus {
        _ = try await answer(FakeRequest(.accountStatus))
        return account
    }

    /// Looks up the user.
    ///
    /// - Returns: The user record name.
    /// - Throws: ``CloudError``; `notAuthenticated` if no user is signed in.
    public func userRecordName() async throws -> String {
        _ = try await answer(FakeRequest(.userRecordName))
        guard let user else { throw CloudError(.notAuthenticated) }
        return user
    }
}

// The requests of a database, which the cloud performs for the device's user.
@_spi(Server) extension FakeDatabase: LedgerBackedDatabase {
    /// Lets the cloud perform an operation for the device's user, with the faults that the test planned.
    ///
    /// Operations that no client can request are not listed in ``requests``, ignore faults, and work without a
    /// network.
    ///
    /// - Parameter operation: The operation.
    /// - Returns: The response, as a test may have edited it.
    /// - Throws: ``CloudError`` if the request as a whole failed.
    public func response(
        to operation: LedgerRequest.Operation
    ) async throws(CloudError) -> LedgerResponse {
        if let request = FakeRequest(operation) { return try await answer(request, operation) }
        guard let user else { throw CloudError(.notAuthenticated) }
        let response = cloud.handle(operation, user: user, from: self)
        if case .failure(let error) = response { throw error }
        return response
    }
}
