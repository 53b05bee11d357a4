/// A database that knows whether its signals have been taken by those who listen.
///
/// A stream of signals does not say what is still on its way in it; whoever waits until all that follows from a
/// change is done must know.
package protocol SignalTelling: Sendable {
    /// Whether every listener has taken all signals, and has done with them.
    var areSignalsTaken: Bool { get }

    /// Returns once that is so.
    func waitUntilSignalsAreTaken() async
}
