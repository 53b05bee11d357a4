import RecordCoding

/// What ``LiveModels`` waits for.
extension SyncEngine {
    /// Returns once the loop over a live stream has taken all changes of records so far, or has ended.
    ///
    /// A stream that has made no request yet has taken nothing.
    func untilTold(_ names: [String], by stream: StreamID) async {
        let hub = face.hub
        await core.wait { core in
            guard let machine = core.machine else { return true }
            guard machine.serves(stream) else { return !hub.isOpen(stream) }
            return machine.hasTold(names, by: stream)
        }
    }
}
