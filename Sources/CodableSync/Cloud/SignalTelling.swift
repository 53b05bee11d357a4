/// A database that knows whether its listeners have taken all signals.
///
/// A stream does not tell which elements are still buffered, and waiting for an idle engine depends on that.
package protocol SignalTelling: Sendable {
    /// Whether every listener has taken and processed all signals.
    var areSignalsTaken: Bool { get }

    /// Returns once every listener has taken and processed all signals.
    func waitUntilSignalsAreTaken() async
}
