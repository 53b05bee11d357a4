import RecordCoding

/// A private database of CloudKit Web Services.
package struct CloudKitWebDatabase: CloudDatabase {
    let connection: any WebConnection

    package init(_ connection: any WebConnection) {
        self.connection = connection
    }

    package var identifier: String { get throws { try connection.identifier } }

    package var scope: DatabaseScope { .private }

    /// [Property Metrics](https://developer.apple.com/library/archive/documentation/DataManagement/Conceptual/CloudKitWebServicesReference/PropertyMetrics.html):
    /// 200 operations a request.
    package var limits: DatabaseLimits { DatabaseLimits(maximumItems: 200) }

    package var signals: AsyncStream<CloudSignal> { AsyncStream { $0.finish() } }

    // MARK: The account

    package func accountStatus() async throws -> AccountStatus {
        do throws(CloudError) {
            _ = try await currentUser()
            return .available
        } catch {
            switch error.code {
            case .notAuthenticated: return .noAccount
            case .permissionFailure: return .restricted
            case .accountTemporarilyUnavailable: return .temporarilyUnavailable
            default: throw error
            }
        }
    }

    package func userRecordName() async throws -> String { try await currentUser() }

    private func currentUser() async throws(CloudError) -> String {
        let json = try await send("users/current", WebRequestBody.nothing)
        guard let name = json["userRecordName"]?.string, !name.isEmpty else {
            throw .malformed("userRecordName")
        }
        return name
    }

    // MARK: Sending

    /// Sends a request, and returns the body of a successful answer.
    func send(
        _ operation: String,
        _ body: [UInt8],
        isChange: Bool = false
    ) async throws(CloudError) -> WebJSON {
        try await connection.answer(to: WebRequest(operation, body, isChange: isChange)).success()
    }

    /// - Throws: `limitExceeded` for more items than one request may have.
    func checkCount(_ count: Int) throws(CloudError) {
        guard count > limits.maximumItems else { return }
        throw CloudError(
            .limitExceeded,
            message: "\(count) items are more than the \(limits.maximumItems) that a request may have."
        )
    }
}
