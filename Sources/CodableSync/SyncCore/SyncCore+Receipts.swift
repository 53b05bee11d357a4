import RecordCoding

/// Reporting to the machine what the app received, in order with its calls.
extension SyncCore {
    /// Passes the receipts that are due to the machine; of large reads, only a part.
    ///
    /// - Parameter names: The records of the call that follows: the machine gets everything about them.
    func takeReceipts(for names: [ExactName] = []) {
        guard machine != nil else { return }
        for receipt in callQueue.takeReceipts() {
            switch receipt {
            case .read(var read):
                pass(read.takePart(), of: read)
                if read.count > 0 { reads.append(read) }
            case .request(let stream, _):
                if let kind = model.claim(stream) { process(.delivery(.streamRequested(stream, kind))) }
            }
        }
        if reads.isEmpty { return }
        if !names.isEmpty {
            for index in reads.indices { pass(reads[index].take(names), of: reads[index]) }
        }
        passNextPartAtRest()
    }

    /// Reports to the machine what the app got of records before the cloud's response changes them.
    ///
    /// The machine then keeps a deletion of a record that the app has for a decision, and a version that the
    /// app has as an ancestor.
    ///
    /// - Parameters:
    ///   - keys: The records that the answer is about.
    ///   - mayEndListing: Whether the answer may be about all other records as well, since a listing ends.
    func takeReceipts(before keys: [RecordKey], mayEndListing: Bool = false) {
        if mayEndListing, let state = machine?.state, state.zone(state.engineZone).isListing {
            takeAllReceipts()
        } else {
            takeReceipts(for: keys.map(\.name))
        }
    }

    /// Reports the rest of large reads to the machine, since nothing follows.
    func takeAllReceipts() {
        takeReceipts()
        let left = reads
        reads = []
        for var read in left { pass(read.takeAll(), of: read) }
    }

    /// Passes the next part of a large read to the machine; called when the journal has stored a batch, so that no
    /// call waits for more than a part.
    func passNextPartSoon() {
        guard !reads.isEmpty, !isNextPartDue else { return }
        isNextPartDue = true
        Task { [weak self] in await self?.passNextPart() }
    }

    private func passNextPartAtRest() {
        if machine?.isStoring == false { passNextPartSoon() }
    }

    private func passNextPart() {
        isNextPartDue = false
        if !reads.isEmpty {
            pass(reads[0].takePart(), of: reads[0])
            if reads[0].count == 0 { reads.removeFirst() }
        }
        passNextPartAtRest()
        notifyWatchers()
    }

    /// Passes what a read returned to the machine, unless contents were removed since.
    private func pass(_ given: [GivenContents], of read: GivenByRead) {
        guard !given.isEmpty, read.session == session, read.generation == machine?.readGeneration else {
            return
        }
        process(.calls(.read(given)))
    }
}
