import Hummingbird
import NIOConcurrencyHelpers
import NIOCore

/// A request on its way through the server, with its connection.
struct ServerContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel
    /// The server's address as the client knows it, once its host was checked.
    var origin = ""
    private let user = NIOLockedValueBox<String?>(nil)

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }

    /// Whose request it is; `nil` as long as that is not known.
    var userName: String? { user.withLockedValue { $0 } }

    /// Notes whose request it is, for those who made the context.
    func note(user name: String) { user.withLockedValue { $0 = name } }
}
