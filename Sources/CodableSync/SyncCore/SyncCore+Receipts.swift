import RecordCoding

/// Telling the machine what the app was given, in its place among the calls.
extension SyncCore {
    /// Passes the receipts that are due to the machine; of large reads, only a part.
    ///
    /// - Parameter names: The records of the call that follows: the machine is told everything about them.
    func takeReceipts(for names: [ExactName] = []) {
        guard machine != nil else { return }
        for receipt in callQueue.takeReceipts() {
            switch receipt {
            case .read(var read):
                tell(read.takePart(), of: read)
                if read.count > 0 { reads.append(read) }
            case .request(let stream, _):
                if let kind = model.claim(stream) { process(.delivery(.streamRequested(stream, kind))) }
            }
        }
        if reads.isEmpty { return }
        if !names.isEmpty {
            for index in reads.indices { tell(reads[index].take(names), of: reads[index]) }
        }
        tellNextPartAtRest()
    }

    /// Tells the machine what the app was given of records before the cloud's answer changes them.
    ///
    /// A deletion of a record that the app has is kept, to be decided about, and a version that the app has is kept
    /// as an ancestor.
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

    /// Tells the machine everything that is left of large reads, since nothing is told later.
    func takeAllReceipts() {
        takeReceipts()
        let left = reads
        reads = []
        for var read in left { tell(read.takeAll(), of: read) }
    }

    /// Tells the machine the next part of a large read; called when the journal has stored a batch, so that no
    /// call waits for more than a part.
    func tellNextPartSoon() {
        guard !reads.isEmpty, !isNextPartDue else { return }
        isNextPartDue = true
        Task { [weak self] in await self?.tellNextPart() }
    }

    private func tellNextPartAtRest() {
        if machine?.isStoring == false { tellNextPartSoon() }
    }

    private func tellNextPart() {
        isNextPartDue = false
        if !reads.isEmpty {
            tell(reads[0].takePart(), of: reads[0])
            if reads[0].count == 0 { reads.removeFirst() }
        }
        tellNextPartAtRest()
        tellWatchers()
    }

    /// Tells the machine what a read returned, unless contents were taken away since.
    private func tell(_ given: [GivenContents], of read: GivenByRead) {
        guard !given.isEmpty, read.session == session, read.generation == machine?.readGeneration else {
            return
        }
        process(.calls(.read(given)))
    }
}
