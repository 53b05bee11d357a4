#if canImport(CloudKit)
    import CloudKit
    import Foundation
    import RecordCoding

    extension CloudKitReader {
        /// Converts an error of a request or of an item.
        ///
        /// - Parameters:
        ///   - error: The error.
        ///   - zoneID: The zone as the request spelled it, for the server's record; `nil` takes CloudKit's
        ///     spelling.
        /// - Returns: The error.
        func error(_ error: any Error, in zoneID: ZoneID? = nil) -> CloudError {
            switch error {
            case let error as CloudError: error
            case let error as CKError: self.error(error, in: zoneID)
            case is CancellationError: CloudError(.operationCancelled)
            default: unknown(error as NSError)
            }
        }

        private func error(_ error: CKError, in zoneID: ZoneID?) -> CloudError {
            CloudError(
                CloudError.Code(number: error.errorCode),
                message: error.localizedDescription,
                retryAfter: error.retryAfterSeconds.flatMap(Duration.init(waiting:)),
                serverRecord: error.serverRecord.map { record($0, in: zoneID) },
                itemErrors: itemErrors(of: error),
                userDidResetEncryptedData: error.userInfo[CKErrorUserDidResetEncryptedDataKey] as? Bool
                    ?? false
            )
        }

        private func itemErrors(of error: CKError) -> [RecordID: CloudError] {
            var errors: [RecordID: CloudError] = [:]
            for (item, itemError) in error.partialErrorsByItemID ?? [:] {
                if let recordID = item as? CKRecord.ID { errors[id(recordID)] = self.error(itemError) }
            }
            return errors
        }

        private func unknown(_ error: NSError) -> CloudError {
            CloudError(.unknown("\(error.domain) \(error.code)"), message: error.localizedDescription)
        }

        /// Converts a result.
        func result<Success, Converted>(
            _ result: Result<Success, any Error>,
            in zoneID: ZoneID? = nil,
            _ convert: (Success) -> Converted
        ) -> Result<Converted, CloudError> {
            switch result {
            case .success(let value): .success(convert(value))
            case .failure(let error): .failure(self.error(error, in: zoneID))
            }
        }

        /// Converts the result of a deletion, which is `nil` if it succeeded.
        func failure(_ result: Result<Void, any Error>, in zoneID: ZoneID? = nil) -> CloudError? {
            guard case .failure(let error) = result else { return nil }
            return self.error(error, in: zoneID)
        }
    }

    extension CKError {
        /// The errors of items, if the error is only their container.
        var itemErrors: [AnyHashable: any Error]? {
            guard code == .partialFailure, let errors = partialErrorsByItemID, !errors.isEmpty else {
                return nil
            }
            return errors
        }
    }

    extension Duration {
        /// Converts a server's wait; `nil` if it is not a number of seconds from 0 to a year.
        fileprivate init?(waiting seconds: Double) {
            guard (0...31_536_000).contains(seconds) else { return nil }
            self = .seconds(seconds)
        }
    }
#endif
