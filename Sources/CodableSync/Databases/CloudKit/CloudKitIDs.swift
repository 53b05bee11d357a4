#if canImport(CloudKit)
    /// The IDs of a request with CloudKit's, and the errors of those that CloudKit cannot have.
    struct IDs<ID: Hashable & Sendable, Converted: Sendable>: Sendable {
        private(set) var pairs: [(id: ID, converted: Converted)] = []
        private(set) var errors: [ID: CloudError] = [:]

        init(_ ids: [ID], _ convert: (ID) throws(CloudError) -> Converted) {
            for id in ids {
                do throws(CloudError) {
                    pairs.append((id, try convert(id)))
                } catch {
                    errors[id] = error
                }
            }
        }

        var isEmpty: Bool { pairs.isEmpty }

        /// The IDs to send.
        var converted: [Converted] { pairs.map(\.converted) }

        /// The results of the IDs that are not sent.
        func refused<Value>() -> [ID: Result<Value, CloudError>] { errors.mapValues { .failure($0) } }
    }
#endif
