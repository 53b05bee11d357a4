import RecordCoding

public import struct Foundation.Date
import struct Foundation.UUID

/// A cloud in memory that follows CloudKit's rules, for tests and previews.
///
/// It has any number of users, and each user any number of devices. It enforces CloudKit's known rules for
/// the requests of an engine: it refuses stale change tags, missing zones, invalid names and values, requests
/// that are too large, and values whose type differs from the one that their field was first saved with. It
/// has no deployed schema, so it accepts record types and fields that CloudKit's production environment
/// refuses. To inject faults, see ``FakeDatabase``.
///
/// ```swift
/// func testTwoDevicesAgree() async throws {
///     let cloud = FakeCloud()
///     let phone = SyncEngine<Note>(database: cloud.database(user: "alice"))
///     let laptop = SyncEngine<Note>(database: cloud.database(user: "alice"))
///
///     try await phone.upload(note)
///     _ = try await phone.sync()
///     _ = try await laptop.sync()
///
///     let notes = try await laptop.allModels()
///     XCTAssertEqual(notes, [note])
///     XCTAssertEqual(try cloud.models(Note.self, user: "alice"), [note])
/// }
/// ```
///
/// <doc:TestingYourApp> shows how to test a resolver, an outage, a sign-out and a purge.
///
/// Records that it returns are copies; changing them does not change the cloud. You can use it from any task.
public final class FakeCloud: Sendable {
    private struct State: Sendable {
        var ledger: CloudLedger
        /// Distinguishes later changes from those of another cloud with this name, or of a history that was
        /// lost.
        var epoch = UInt64.random(in: 1 ... .max)
        var pushes = true
        var devices: [WeakDevice] = []
    }

    private struct WeakDevice: Sendable {
        weak var device: FakeDatabase?
    }

    /// The default user of ``database(user:)``.
    public static let defaultUser = "user"

    /// The name of the cloud; it is unique unless a test sets it.
    public let identifier: String
    private let date: @Sendable () -> Date
    private let state: Locked<State>

    /// Creates an empty cloud.
    ///
    /// Use the same clock for the engines, so that time passes for all of them at once.
    ///
    /// - Parameters:
    ///   - clock: The server's clock, for modification dates and for throttling; the system's by default.
    ///   - limits: The limits of a request; CloudKit's by default.
    public convenience init(clock: any SyncClock = SystemClock(), limits: DatabaseLimits = .cloudKit) {
        var ledgerLimits = LedgerLimits.cloudKit
        ledgerLimits.database = limits
        self.init(limits: ledgerLimits, options: LedgerOptions(), date: { clock.now.wall })
    }

    /// Creates an empty cloud with options.
    ///
    /// - Parameters:
    ///   - identifier: The name of the cloud; a unique one by default.
    ///   - limits: The limits of a request; CloudKit's by default.
    ///   - options: What the cloud does where CloudKit's behaviour is uncertain.
    ///   - date: The server's clock, for modification dates and for throttling; the system's by default.
    @_spi(Server) public init(
        identifier: String? = nil,
        limits: LedgerLimits = .cloudKit,
        options: LedgerOptions,
        date: (@Sendable () -> Date)? = nil
    ) {
        let identifier = identifier ?? "fake-\(UUID().uuidString)"
        let clock = SystemClock()
        self.identifier = identifier
        self.date = date ?? { clock.now.wall }
        let ledger = CloudLedger(identifier: identifier, limits: limits, options: options.enforcingSchema)
        state = Locked(State(ledger: ledger))
    }

    /// The random part of change tags and tokens; a simulation sets its own, so that a seed reproduces the
    /// same bytes.
    package var epoch: UInt64 {
        get { state.withLock { $0.epoch } }
        set { state.withLock { $0.epoch = newValue } }
    }

    /// Creates a connection for a new device to a user's private database.
    ///
    /// - Parameter user: The user record name of the user who is signed in on the device.
    /// - Returns: The connection, which keeps the cloud alive.
    public func database(user: String = FakeCloud.defaultUser) -> FakeDatabase {
        let device = FakeDatabase(cloud: self, user: user)
        state.withLock { state in
            state.devices.removeAll { $0.device == nil }
            state.devices.append(WeakDevice(device: device))
        }
        return device
    }

    /// Whether a change by one device is signalled to the user's other devices; if not, they find it when
    /// they fetch.
    public var pushes: Bool {
        get { state.withLock { $0.pushes } }
        set { state.withLock { $0.pushes = newValue } }
    }

    /// The limits of a request; a change applies to the server and its devices from the next request on.
    public var limits: DatabaseLimits {
        get { state.withLock { $0.ledger.limits.database } }
        set { state.withLock { $0.ledger.limits.database = newValue } }
    }

    /// What it does where CloudKit's behaviour is uncertain; unless ``LedgerOptions/enforcesSchema`` is
    /// `false`, it enforces field types.
    @_spi(Server) public var options: LedgerOptions {
        get { state.withLock { $0.ledger.options } }
        set { state.withLock { $0.ledger.options = newValue.enforcingSchema } }
    }

    /// A copy of the cloud's contents and rules.
    @_spi(Server) public var ledger: CloudLedger { state.withLock { $0.ledger } }

    /// Restores the cloud from a backup.
    ///
    /// ```swift
    /// let backup = cloud.ledger
    /// …
    /// cloud.restore(backup)
    /// ```
    ///
    /// Devices that know newer data notice at their next request and upload it again; records that were
    /// deleted since the backup may come back. No signal is sent.
    ///
    /// - Parameter ledger: An earlier value of ``ledger``.
    @_spi(Server) public func restore(_ ledger: CloudLedger) {
        state.withLock { state in
            state.ledger = ledger
            state.epoch = .random(in: 1 ... .max)
        }
    }

    /// Reads the ledger in place; a copy would make the next change expensive.
    func read<Value>(_ body: (CloudLedger) -> Value) -> Value {
        state.withLock { body($0.ledger) }
    }

    /// The server's current date; that of a custom clock may be none that a record can have.
    var now: Date { date().clamped }

    /// Performs a request, and signals changes to the user's other devices.
    func handle(
        _ operation: LedgerRequest.Operation,
        user: String,
        from origin: FakeDatabase?
    ) -> LedgerResponse {
        let now = now
        let (response, entries, devices) = state.withLock { state in
            let request = LedgerRequest(user: user, operation: operation)
            let (response, entries) = state.ledger.handle(request, at: now, epoch: state.epoch)
            for entry in entries { state.ledger.apply(entry) }
            let devices = state.pushes ? state.devices.compactMap(\.device) : []
            return (response, entries, devices)
        }
        var zones: [ZoneID] = []
        for case let zone? in entries.map(\.changedZone) where !zones.contains(zone) { zones.append(zone) }
        guard !zones.isEmpty else { return response }
        for device in devices where device !== origin && device.belongs(to: user) {
            device.emit(.changes(in: zones))
        }
        return response
    }

    /// Performs an operation that no client can request.
    ///
    /// - Throws: Why it was refused.
    func perform(_ operation: LedgerRequest.Operation, user: String) throws(CloudError) -> LedgerResponse {
        let response = handle(operation, user: user, from: nil)
        if case .failure(let error) = response { throw error }
        return response
    }

    /// The devices on which a user is signed in.
    func devices(of user: String) -> [FakeDatabase] {
        state.withLock { $0.devices.compactMap(\.device) }.filter { $0.belongs(to: user) }
    }
}

extension LedgerOptions {
    /// The same options, which enforce a schema unless that is turned off.
    fileprivate var enforcingSchema: LedgerOptions {
        var options = self
        options.enforcesSchema = enforcesSchema ?? true
        return options
    }
}

extension CloudDatabase where Self == FakeDatabase {
    /// The only device of a new cloud in memory, for previews and simple tests.
    public static var fake: FakeDatabase { FakeCloud().database() }
}
