/// An open regular file; it may be read from any thread while one thread appends.
package protocol OpenFile: AnyObject, Sendable {
    /// The path it was opened at, for messages.
    var path: String { get }

    /// Which file it is.
    var identity: FileIdentity { get }

    /// Adds bytes at the end; after an error any part of them may be there.
    func append(_ bytes: UnsafeRawBufferPointer) throws(FileError)

    /// Reads bytes at an offset into a buffer; returns fewer than asked for only at the end of the file.
    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int

    /// The file's size in bytes.
    func size() throws(FileError) -> UInt64

    /// Makes what was appended survive a loss of power.
    func flush() throws(FileError)

    /// Cuts the file off.
    func truncate(to size: UInt64) throws(FileError)

    /// Closes the file: from then on every call throws a ``FileError`` with `EBADF`.
    ///
    /// A call that is running on another thread finishes with this file; closing does not wait for it.
    func close()
}

extension OpenFile {
    /// Adds bytes at the end.
    package func append(_ bytes: [UInt8]) throws(FileError) {
        let result = bytes.withUnsafeBytes { buffer -> Result<Void, FileError> in
            Result { () throws(FileError) in try append(buffer) }
        }
        try result.get()
    }

    /// Reads bytes at an offset: fewer than `count` only at the end of the file.
    package func read(at offset: UInt64, count: Int) throws(FileError) -> [UInt8] {
        var failure: FileError?
        let bytes = [UInt8](unsafeUninitializedCapacity: max(count, 0)) { buffer, initializedCount in
            do throws(FileError) {
                initializedCount = try read(at: offset, into: UnsafeMutableRawBufferPointer(buffer))
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }
}
