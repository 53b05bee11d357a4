import RecordCoding

/// What ``LiveModels`` waits for.
extension SyncEngine {
    /// Returns once the loop over a live stream has taken all changes of a record so far, or has ended.
    func untilTold(_ name: String, by stream: StreamID) async {
        await core.wait { core in
            guard let machine = core.machine else { return true }
            return machine.delivering.hasTold(machine.state.key(name), by: stream)
        }
    }
}
