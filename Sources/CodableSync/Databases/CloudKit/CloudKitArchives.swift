#if canImport(CloudKit)
    import CloudKit
    import Foundation

    extension CKRecord {
        /// The system fields as CloudKit archives them.
        var systemFieldsArchive: Data {
            let archiver = NSKeyedArchiver(requiringSecureCoding: true)
            encodeSystemFields(with: archiver)
            archiver.finishEncoding()
            return archiver.encodedData
        }

        /// Makes a record without fields from archived system fields.
        ///
        /// - Returns: The record; `nil` if the archive is not one.
        static func restored(from archive: Data) -> CKRecord? {
            do {
                let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archive)
                unarchiver.requiresSecureCoding = true
                defer { unarchiver.finishDecoding() }
                return CKRecord(coder: unarchiver)
            } catch {
                // These are not the bytes of an archive; what follows is up to the caller.
                return nil
            }
        }
    }

    extension ChangeToken {
        /// Archives CloudKit's token.
        init(_ token: CKServerChangeToken) throws {
            self.init(try NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true))
        }

        /// CloudKit's token.
        ///
        /// - Throws: `changeTokenExpired` if the bytes are not those of a token.
        var cloudKitToken: CKServerChangeToken {
            get throws(CloudError) {
                let token: CKServerChangeToken?
                do {
                    token = try NSKeyedUnarchiver.unarchivedObject(ofClass: CKServerChangeToken.self, from: data)
                } catch {
                    throw CloudError(.changeTokenExpired, message: "The change token is unreadable.")
                }
                guard let token else {
                    throw CloudError(.changeTokenExpired, message: "The change token is unreadable.")
                }
                return token
            }
        }
    }
#endif
