/// The settings of the machine.
package struct MachineConfiguration: Equatable, Sendable {
    package var automaticallySyncs = true
    /// How long the first unsent call waits for others.
    package var sendDelay: Duration = .zero
    package var maximumItems = 400
    package var maximumBytes = 2_000_000
    /// How long after a fetch the next one begins if nothing else requests one.
    package var pollInterval: Duration? = .seconds(300)
    package var requestDeadline: Duration = .seconds(60)
    /// Whether records that the cloud has confirmed are removed from this device when the user signs out.
    package var removesOnSignOut = false
    /// The schema versions that the app's models can read.
    package var schemas: [ReadableSchema] = []
    package var seed: UInt64 = 0

    package init() {}
}
