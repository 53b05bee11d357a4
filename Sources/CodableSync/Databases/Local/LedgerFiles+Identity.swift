import RecordCoding

/// The file that names the cloud, and what may be in its directory.
extension LedgerFiles {
    static let identityName = "cloud.json"

    private var identityPath: String { path.appending(path: Self.identityName) }

    private static let identityStart = Array(#"{"cloud":""#.utf8)
    private static let identityEnd = Array("\"}\n".utf8)

    /// Reads the identity of the cloud.
    ///
    /// It has a file of its own, so that it can be read without a lock and while the log is damaged, and stays when
    /// the log is replaced.
    ///
    /// - Returns: The identity; `nil` if the directory does not name one yet.
    /// - Throws: ``FileError``, or ``CloudError`` if the file is damaged.
    func identity() throws -> String? {
        guard try fileSystem.status(of: identityPath) != nil else { return nil }
        let bytes = try fileSystem.readFile(identityPath, atMost: 1 << 10)
        let name = bytes.dropFirst(Self.identityStart.count).dropLast(Self.identityEnd.count)
        let text = String(decoding: name, as: UTF8.self)
        guard !text.isEmpty, bytes == Self.contents(identity: text), text.utf8.allSatisfy(Self.isInIdentity)
        else {
            throw CloudError(
                .badDatabase,
                message: "\"\(identityPath.shortenedForMessage)\" does not name the cloud. Restore it from a "
                    + "backup, or write {\"cloud\":\"…\"} with the name that the error of a device shows."
            )
        }
        return text
    }

    /// Names the cloud; the name is durable when this returns.
    func write(identity: String) throws(FileError) {
        try fileSystem.writeAtomically(Self.contents(identity: identity), to: identityPath)
    }

    private static func contents(identity: String) -> [UInt8] {
        identityStart + Array(identity.utf8) + identityEnd
    }

    /// Whether a byte is an ASCII letter, a digit or a hyphen, so that the identity is also a file name.
    private static func isInIdentity(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    /// Checks that the directory is empty or a cloud's, before anything is written to it.
    ///
    /// - Throws: ``FileError``, or ``CloudError`` if it is something else.
    func checkContents() throws {
        // A link may lead to a directory.
        guard let kind = try fileSystem.status(of: path)?.kind, [.directory, .symbolicLink].contains(kind)
        else { return }
        let names = try fileSystem.contents(ofDirectory: path)
        if names.contains(where: Self.isOfCloud) { return }
        guard let foreign = names.first(where: { !Self.mayBeInNewCloud($0) }) else { return }
        throw CloudError(
            .badDatabase,
            message: "\"\(path.shortenedForMessage)\" is not a cloud: it contains \(foreign.quoted), but no "
                + "journal of a cloud. Use an empty directory, or that of a cloud."
        )
    }

    /// Whether a file belongs to a cloud, by its name.
    static func isOfCloud(_ name: String) -> Bool { name == identityName || LogFileName(name) != nil }

    /// Whether a file may be in a directory in which a process was killed before it had made a cloud.
    private static func mayBeInNewCloud(_ name: String) -> Bool {
        // The last two are made by the Finder in any directory that it shows, and by Linux on each new volume.
        name.hasSuffix(".lock") || name.hasSuffix(".tmp")
            || ["lock", ".DS_Store", "lost+found"].contains(name)
    }
}
