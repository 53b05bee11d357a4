/// A database that knows whether its listeners have received all signals.
///
/// Waiting for an idle engine depends on this, since a stream does not report how many elements it still
/// buffers.
package protocol SignalTracking: Sendable {
    /// Whether every listener has received and processed all signals.
    var areSignalsTaken: Bool { get }

    /// Returns once every listener has received and processed all signals.
    func waitUntilSignalsAreTaken() async
}
