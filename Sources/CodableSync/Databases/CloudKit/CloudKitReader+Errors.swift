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
            default: self.error(error as NSError)
            }
        }

        private func error(_ error: CKError, in zoneID: ZoneID?) -> CloudError {
            CloudError(
                CloudError.Code(number: error.errorCode),
                message: error.localizedDescription,
                retryAfter: error.retryAfterSeconds.map(Duration.init(waiting:)),
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

        /// Converts an error of another domain: CloudKit wraps most errors of the network and of its daemon, but
        /// not all.
        private func error(_ error: NSError) -> CloudError {
            let code: CloudError.Code =
                switch (error.domain, error.code) {
                // NSURLErrorNotConnectedToInternet
                case ("NSURLErrorDomain", -1009): .networkUnavailable
                // NSURLErrorCancelled and NSUserCancelledError
                case ("NSURLErrorDomain", -999), ("NSCocoaErrorDomain", 3072): .operationCancelled
                case ("NSURLErrorDomain", _), ("NSPOSIXErrorDomain", _): .networkFailure
                // NSXPCConnectionErrorMinimum to NSXPCConnectionErrorMaximum: the daemon ended during the request.
                case ("NSCocoaErrorDomain", 4096...4224): .serverResponseLost
                default: .unknown("\(error.domain) \(error.code)")
                }
            return CloudError(code, message: "\(error.localizedDescription) (\(error.domain) \(error.code))")
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

        /// Converts the result of a record.
        func result(
            _ result: Result<CKRecord, any Error>,
            of recordID: CKRecord.ID,
            in zoneID: ZoneID
        ) -> Result<Record, CloudError> {
            self.result(result.mapError { unwrapped($0, of: recordID) }, in: zoneID) {
                record($0, in: zoneID)
            }
        }

        /// Converts the result of a record's deletion, which is `nil` if it succeeded.
        func failure(
            _ result: Result<Void, any Error>,
            of recordID: CKRecord.ID,
            in zoneID: ZoneID
        ) -> CloudError? {
            failure(result.mapError { unwrapped($0, of: recordID) }, in: zoneID)
        }

        /// The error of a record without the containers around it.
        private func unwrapped(_ error: any Error, of recordID: CKRecord.ID) -> any Error {
            (error as? CKError)?.itemErrors?.error(of: recordID) ?? error
        }

        /// Converts the result of a deletion, which is `nil` if it succeeded.
        func failure(_ result: Result<Void, any Error>, in zoneID: ZoneID? = nil) -> CloudError? {
            guard case .failure(let error) = result else { return nil }
            return self.error(error, in: zoneID)
        }
    }

    extension CKError {
        /// The errors of items, if the error is only their container.
        ///
        /// An error without a wait of its own gets that of the container.
        var itemErrors: [AnyHashable: any Error]? {
            guard code == .partialFailure, let errors = partialErrorsByItemID, !errors.isEmpty else {
                return nil
            }
            guard let wait = retryAfterSeconds else { return errors }
            return errors.mapValues { error in
                guard let error = error as? CKError, error.retryAfterSeconds == nil else { return error }
                var userInfo = error.userInfo
                userInfo[CKErrorRetryAfterKey] = wait
                return CKError(error.code, userInfo: userInfo)
            }
        }
    }

    extension [AnyHashable: any Error] {
        /// The error of a record: its own, or that of its zone, without the containers around it.
        func error(of recordID: CKRecord.ID) -> (any Error)? {
            let own =
                self[recordID] ?? first { ($0.key as? CKRecord.ID)?.isSame(as: recordID) == true }?.value
            guard let error = own ?? error(of: recordID.zoneID) else { return nil }
            guard let errors = (error as? CKError)?.itemErrors else { return error }
            return errors.error(of: recordID)
        }

        /// The error of a zone.
        func error(of zoneID: CKRecordZone.ID) -> (any Error)? {
            self[zoneID] ?? first { ($0.key as? CKRecordZone.ID)?.isSame(as: zoneID) == true }?.value
        }
    }

    extension Dictionary where Key == CKRecordZone.ID {
        /// The result of a zone.
        func result(of zoneID: CKRecordZone.ID) -> Value? {
            self[zoneID] ?? first { $0.key.isSame(as: zoneID) }?.value
        }
    }

    extension CKRecordZone.ID {
        /// Whether both may identify the same zone, since CloudKit may name the current user in two ways.
        func isSame(as other: CKRecordZone.ID) -> Bool { ZoneID(self).isSameZone(as: ZoneID(other)) }
    }

    extension CKRecord.ID {
        /// Whether both may identify the same record, since CloudKit may name the current user in two ways.
        fileprivate func isSame(as other: CKRecord.ID) -> Bool {
            RecordID(recordName: recordName, zoneID: .default)
                == RecordID(recordName: other.recordName, zoneID: .default) && zoneID.isSame(as: other.zoneID)
        }
    }

    extension Duration {
        /// Converts a server's wait, limited to between 0 and a year.
        ///
        /// A wait says that the failure is temporary, so even one that makes no sense is not left out.
        fileprivate init(waiting seconds: Double) {
            self = seconds.isNaN ? .zero : .seconds(min(max(seconds, 0), 31_536_000))
        }
    }
#endif
