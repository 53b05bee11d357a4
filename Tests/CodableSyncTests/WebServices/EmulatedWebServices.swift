import Foundation

@_spi(Server) @testable import CodableSync
@testable import RecordCoding

/// CloudKit Web Services in memory: a record service, with a log, whose answers a test can replace.
final class EmulatedWebServices: WebConnection, @unchecked Sendable {
    private let lock = NSLock()
    private let service: RecordService
    private var log: [String] = []
    private var fault: ((WebRequest) throws(CloudError) -> WebAnswer?)?

    init(
        _ ledgerOptions: LedgerOptions = LedgerOptions(),
        storage: (CloudLedger) -> any LedgerStorage = { LedgerMemory($0, epoch: 1) }
    ) {
        var ledgerOptions = ledgerOptions
        ledgerOptions.conflictsCarryServerRecord = false
        var options = RecordServiceOptions()
        // The contract expects the types of deleted records.
        options.deletionsHaveTypes = true
        let ledger = CloudLedger(identifier: "emulated", options: ledgerOptions)
        service = RecordService(storage: storage(ledger), options: options)
    }

    var identifier: String { "emulated" }
    var accountGeneration: Int { 0 }
    var takesKnownChangeTags: Bool { true }
    var signals: AsyncStream<CloudSignal> { AsyncStream { $0.finish() } }

    /// The operations of all requests, in order.
    var operations: [String] { lock.withLock { log } }

    /// Answers instead of the services; `nil` leaves a request to them.
    func answer(instead: (@Sendable (WebRequest) throws(CloudError) -> WebAnswer?)?) {
        lock.withLock { fault = instead }
    }

    func answer(to request: WebRequest) async throws(CloudError) -> WebAnswer {
        let instead = lock.withLock { () -> Result<WebAnswer?, CloudError> in
            log.append(request.operation)
            return Result { () throws(CloudError) in try fault?(request) }
        }
        if let answer = try instead.get() { return answer }
        let request = RecordService.Request(request.operation, request.body, user: "_alice")
        let answer = try await service.answer(to: request, at: Date())
        let json: WebJSON
        do { json = try WebJSON(answer.body) } catch { throw CloudError(.internalError, message: "\(error)") }
        let retryAfter = answer.retryAfter.map { Duration.seconds($0) }
        return WebAnswer(status: answer.status, json: json, retryAfter: retryAfter)
    }
}
