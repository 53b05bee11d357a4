/// A database that can tell, without a request, that it is not usable in this app.
///
/// An engine checks this together with its own configuration, before it accesses the disk.
package protocol ConfigurationChecking: Sendable {
    /// Throws ``CloudError`` if every request would fail.
    func checkConfiguration() throws(CloudError)
}
