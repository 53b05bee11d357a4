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

        /// Creates a record without fields from archived system fields.
        ///
        /// - Returns: The record; `nil` if the archive is not one.
        static func restored(from archive: Data) -> CKRecord? {
            guard let unarchiver = NSKeyedUnarchiver.secure(archive) else { return nil }
            defer { unarchiver.finishDecoding() }
            return CKRecord(coder: unarchiver)
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
                let unarchiver = NSKeyedUnarchiver.secure(data)
                defer { unarchiver?.finishDecoding() }
                let root = NSKeyedArchiveRootObjectKey
                guard let token = unarchiver?.decodeObject(of: CKServerChangeToken.self, forKey: root) else {
                    throw CloudError(.changeTokenExpired, message: "The change token is unreadable.")
                }
                return token
            }
        }
    }

    extension NSKeyedUnarchiver {
        /// An unarchiver that decodes only expected classes, and returns `nil` where it cannot.
        ///
        /// - Returns: The unarchiver; `nil` if the bytes are no archive.
        fileprivate static func secure(_ archive: Data) -> NSKeyedUnarchiver? {
            do {
                let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archive)
                unarchiver.requiresSecureCoding = true
                // By default, an unexpected class ends the process on some systems.
                unarchiver.decodingFailurePolicy = .setErrorAndReturn
                return unarchiver
            } catch {
                // The callers say what it means that this is not an archive.
                return nil
            }
        }
    }
#endif
