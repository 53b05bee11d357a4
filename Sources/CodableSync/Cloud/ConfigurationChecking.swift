/// A database that can detect a configuration error without a request.
///
/// An engine checks this together with its own configuration, before it accesses the disk.
package protocol ConfigurationChecking: Sendable {
    /// Throws ``CloudError`` if every request would fail.
    func checkConfiguration() throws(CloudError)
}
