import Hummingbird
import NIOCore

/// A request on its way through the server, with its connection.
struct ServerContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel
    /// The server's address as the client knows it, once its host was checked.
    var origin = ""

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}
