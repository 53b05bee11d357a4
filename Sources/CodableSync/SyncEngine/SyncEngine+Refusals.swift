import RecordCoding

/// Reports of refused calls.
extension SyncEngine {
    /// Makes a call that changes models, and also reports its error as an event, since an app that drops the
    /// call's task would miss the error.
    ///
    /// The call takes its place in the queue before it suspends, as it would without the report.
    ///
    /// - Parameters:
    ///   - names: The names of the call's records.
    ///   - call: The call.
    /// - Returns: The call's result.
    /// - Throws: The call's error.
    func reportingRefusal<Value>(
        of names: @autoclosure () -> [String],
        _ call: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await call()
        } catch let error as SyncError {
            core.emit(.callRefused(recordNames: names(), error))
            throw error
        }
    }
}
