#if os(Linux)
    import RecordCoding

    @testable import CodableSync

    /// A device with a newer version of the app, whose versions of records these apps can't read.
    extension JobStory {
        /// Saves a record with a higher schema version, or with the first one again.
        func saveAsNewerApp() {
            let name = names[chance(names.count)]
            let isNewer = chance(3) > 0
            guard cloud.record(RecordID(recordName: name, zoneID: Self.zoneID)) != nil else { return }
            say("\(name) is saved with schema version \(isNewer ? 2 : 1)")
            save(name, schema: isNewer ? .int64(2) : .null)
        }

        /// Saves all records with the first schema version.
        ///
        /// - Returns: The number of records that had another one.
        func endNewerVersions() -> Int {
            let newer = cloud.records(in: Self.zoneID).values.filter { ($0.schemaVersion ?? 1) > 1 }
            for name in newer.map(\.recordID.recordName).sorted() { save(name, schema: .null) }
            return newer.count
        }

        private func save(_ name: String, schema: RecordValue) {
            let id = RecordID(recordName: name, zoneID: Self.zoneID)
            do {
                try cloud.put(Record(recordType: "Item", recordID: id, fields: ["codableSyncSchema": schema]))
            } catch {
                fail("\(name) cannot be saved: \(error)")
            }
        }
    }
#endif
