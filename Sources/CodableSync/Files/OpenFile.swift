/// An open regular file; it may be read from any thread while one thread appends.
package protocol OpenFile: AnyObject, Sendable {
    /// The path at which the file was opened, for messages.
    var path: String { get }

    /// The identity of the file.
    var identity: FileIdentity { get }

    /// Appends bytes; after an error, any part of them may have been written.
    func append(_ bytes: UnsafeRawBufferPointer) throws(FileError)

    /// Reads bytes at an offset into a buffer; returns fewer than requested only at the end of the file.
    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int

    /// The file's size in bytes.
    func size() throws(FileError) -> UInt64

    /// Flushes appended bytes, so that they survive a power loss.
    func flush() throws(FileError)

    /// Cuts the file off at a size.
    func truncate(to size: UInt64) throws(FileError)

    /// Closes the file; later calls throw a ``FileError`` with `EBADF`.
    ///
    /// A call that is running on another thread finishes with this file; closing does not wait for it.
    func close()
}

extension OpenFile {
    /// Appends bytes.
    package func append(_ bytes: [UInt8]) throws(FileError) {
        let result = bytes.withUnsafeBytes { buffer -> Result<Void, FileError> in
            Result { () throws(FileError) in try append(buffer) }
        }
        try result.get()
    }

    /// Reads bytes at an offset; returns fewer than `count` only at the end of the file.
    package func read(at offset: UInt64, count: Int) throws(FileError) -> [UInt8] {
        var failure: FileError?
        let count = max(count, 0)
        // An array without capacity is one that all threads share, and its count would be written.
        let bytes = [UInt8](unsafeUninitializedCapacity: max(count, 1)) { buffer, initializedCount in
            let wanted = UnsafeMutableRawBufferPointer(buffer)[..<count]
            do throws(FileError) {
                initializedCount = try read(at: offset, into: UnsafeMutableRawBufferPointer(rebasing: wanted))
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }
}
