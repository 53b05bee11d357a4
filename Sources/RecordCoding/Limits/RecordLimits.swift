/// CloudKit's limits for records and names, as checks that throw.
public enum RecordLimits {
    /// The maximum size of a record's field data in bytes, without files.
    ///
    /// CloudKit documents 1 MB without defining the unit; this is the smaller interpretation.
    public static let maximumRecordBytes = 1_000_000

    /// The maximum number of characters in any name.
    package static let maximumNameLength = 255

    /// The names of CloudKit's system fields and of the properties of its records, each with a name that a model
    /// can use instead.
    ///
    /// CloudKit compares names exactly. It documents the properties; `etag` and `modifiedByDevice` are properties
    /// too, which it does not document.
    private static let systemFieldNames = [
        "recordID": "identifier", "recordType": "kind", "recordChangeTag": "changeTag",
        "creationDate": "created", "modificationDate": "modified", "creatorUserRecordID": "creator",
        "lastModifiedUserRecordID": "modifier", "parent": "parentID", "share": "shareID",
        "encryptedValues": "secrets", "etag": "entityTag", "modifiedByDevice": "modifyingDevice",
    ]

    /// Bit sets of these names' lengths and first letters; a name with any others needs no look-up.
    private static let systemFieldNameBits = systemFieldNames.keys.reduce(
        (lengths: UInt64(0), letters: UInt64(0))
    ) {
        ($0.lengths | 1 << UInt64($1.utf8.count), $0.letters | 1 << letterNumber($1))
    }

    private static func letterNumber(_ name: String) -> UInt64 { UInt64(name.utf8.first ?? 0) & 31 }

    private static func isSystemField(_ name: String) -> Bool {
        let bits = systemFieldNameBits
        return (bits.lengths >> UInt64(name.utf8.count)) & (bits.letters >> letterNumber(name)) & 1 != 0
            && systemFieldNames[name] != nil
    }

    /// The record type that CloudKit manages; `cloudkit.share`, the other one, violates the rule for record
    /// types anyway.
    private static let systemRecordType = "Users"

    /// Checks the name of a record: 1 to 255 ASCII characters without control characters, not starting with an
    /// underscore.
    ///
    /// - Parameter name: The name.
    /// - Throws: ``RecordCodingError``.
    public static func checkRecordName(_ name: String) throws(RecordCodingError) {
        try check(name, as: .recordName, fault: faultOfFreeName(name))
    }

    /// Whether a record can have this name.
    ///
    /// - Parameter name: The name.
    /// - Returns: Whether ``checkRecordName(_:)`` accepts it.
    package static func allowsRecordName(_ name: String) -> Bool { faultOfFreeName(name) == nil }

    /// Checks the name of a zone by the rule for record names; the default zone's name is also allowed.
    ///
    /// - Parameter name: The name.
    /// - Throws: ``RecordCodingError``.
    package static func checkZoneName(_ name: String) throws(RecordCodingError) {
        guard name != ZoneID.defaultZoneName else { return }
        try check(name, as: .zoneName, fault: faultOfFreeName(name))
    }

    /// Checks both names of a zone ID.
    ///
    /// - Parameter zoneID: The zone ID.
    /// - Throws: ``RecordCodingError``.
    public static func check(_ zoneID: ZoneID) throws(RecordCodingError) {
        try checkZoneName(zoneID.zoneName)
        try check(zoneID.ownerName, as: .ownerName, fault: zoneID.ownerName.isEmpty ? .empty : nil)
    }

    /// Checks a record type: an ASCII letter, then letters, digits and underscores, 255 characters at most.
    ///
    /// - Parameter name: The record type.
    /// - Throws: ``RecordCodingError``, also for CloudKit's own types.
    package static func checkRecordType(_ name: String) throws(RecordCodingError) {
        let fault = faultOfIdentifier(name)
        try check(name, as: .recordType, fault: fault ?? (name == systemRecordType ? .reserved : nil))
    }

    /// Checks the name of a field by the rule for record types; the engine's own fields are allowed.
    ///
    /// - Parameter name: The name.
    /// - Throws: ``RecordCodingError``, also for CloudKit's own fields.
    package static func checkFieldName(_ name: String) throws(RecordCodingError) {
        let fault = faultOfIdentifier(name)
        try check(name, as: .fieldName, fault: fault ?? (isSystemField(name) ? .reserved : nil))
    }

    /// Checks a field name that comes from a server; reserved names are allowed.
    ///
    /// - Parameter name: The name.
    /// - Throws: ``RecordCodingError``.
    static func checkForeignFieldName(_ name: String) throws(RecordCodingError) {
        try check(name, as: .fieldName, fault: faultOfIdentifier(name))
    }

    /// Checks a key of a model: the name of a field that does not start with the reserved prefix.
    ///
    /// - Parameter name: The key.
    /// - Throws: ``RecordCodingError``.
    package static func checkModelKey(_ name: String) throws(RecordCodingError) {
        try checkFieldName(name)
        try check(name, as: .fieldName, fault: ReservedField.isReserved(name) ? .reserved : nil)
    }

    /// A valid field name to suggest in place of a reserved one; `nil` if there is none.
    static func alternative(to name: String) -> String? {
        if let alternative = systemFieldNames[name] { return alternative }
        guard ReservedField.isReserved(name) else { return nil }
        let rest = name.dropFirst(ReservedField.prefix.count)
        let alternative = rest.prefix(1).lowercased() + rest.dropFirst()
        return isModelKey(alternative) ? alternative : nil
    }

    /// A valid record type to suggest for a type's name, such as `BoxInt` for `Box<Int>`; `nil` if there is
    /// none.
    static func recordType(like name: String) -> String? {
        let kept = name.drop { $0.utf8.first?.isASCIILetter != true }.filter {
            $0.isASCII && ($0.isLetter || $0.isNumber)
        }
        let name = kept == systemRecordType ? "App\(kept)" : kept
        return faultOfIdentifier(name) == nil ? name : nil
    }

    /// Whether ``checkModelKey(_:)`` accepts a key; called for each field of each record, so it must be fast.
    static func isModelKey(_ name: String) -> Bool {
        name.isIdentifier && !isSystemField(name) && !ReservedField.isReserved(name)
    }

    private static func check(
        _ name: String,
        as kind: RecordCodingError.NameKind,
        fault: RecordCodingError.NameFault?
    ) throws(RecordCodingError) {
        if let fault { throw .invalidName(kind: kind, name: name.abbreviated, fault: fault) }
    }

    private static func faultOfFreeName(_ name: String) -> RecordCodingError.NameFault? {
        let bytes = name.utf8
        if bytes.isEmpty { return .empty }
        let isPrintable = isPrintable(name)
        if !isPrintable, !bytes.allSatisfy({ $0 < 0x80 }) { return .notASCII }
        if bytes.count > maximumNameLength { return .tooLong(length: bytes.count) }
        if !isPrintable { return .illegalCharacter }
        return bytes.first == UInt8(ascii: "_") ? .startsWithUnderscore : nil
    }

    /// Whether a name has ASCII characters only, and no control characters; looks at eight bytes at a time.
    private static func isPrintable(_ name: String) -> Bool {
        name.withBytes { bytes in
            let bytes = UnsafeRawBufferPointer(bytes)
            let highBits: UInt64 = 0x8080_8080_8080_8080
            var offset = 0
            while offset + 8 <= bytes.count {
                let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                // A high bit is set where a byte is above 0x7E, and missing in the last term where it is below 0x20.
                let isAbove = word | (word &+ 0x0101_0101_0101_0101)
                let isBelow = ~((word | highBits) &- 0x2020_2020_2020_2020)
                if (isAbove | isBelow) & highBits != 0 { return false }
                offset += 8
            }
            return bytes[offset...].allSatisfy { $0 &- 0x20 < 0x5F }
        }
    }

    private static func faultOfIdentifier(_ name: String) -> RecordCodingError.NameFault? {
        if name.isIdentifier { return nil }
        if let fault = faultOfFreeName(name) { return fault }
        return name.utf8.first?.isASCIILetter == true ? .illegalCharacter : .startsWithoutLetter
    }
}
