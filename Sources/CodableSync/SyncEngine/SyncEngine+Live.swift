import RecordCoding

/// What ``LiveModels`` waits for.
extension SyncEngine {
    /// Returns once the loop over a live stream has received all changes to these records so far, or has ended.
    ///
    /// A stream that has made no request yet has received nothing.
    func waitUntilDelivered(_ names: [String], by stream: StreamID) async {
        let hub = face.hub
        await core.wait { core in
            guard let machine = core.machine else { return true }
            guard machine.serves(stream) else { return !hub.isOpen(stream) }
            return machine.hasTold(names, by: stream)
        }
    }
}
