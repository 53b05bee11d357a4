import ArgumentParser
import CodableSync
import Foundation

/// Signs a user in to a server.
struct SignIn: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign-in",
        abstract: "Sign in to the server that --cloud names.",
        discussion: """
            It prints the address of a page, and reads from standard input where the browser was sent at the \
            end, or the token in it. With LANDMARKS_WEB_TOKEN, or LANDMARKS_WEB_TOKEN_FILE with the path of a \
            file, it asks nothing.
            """
    )

    @OptionGroup var options: DeviceOptions

    func run() async throws {
        let device = try options.chosenDevice()
        guard case .server(let server) = device.cloud else {
            throw Failure(.usage, "only a server needs a sign-in: give --cloud with its URL")
        }
        let token = try Environment.current.secret("LANDMARKS_WEB_TOKEN")
        let session = device.session(on: server)
        do {
            try await session.signIn { page in try token ?? Self.ask(page) }
            let user = try await session.userRecordName ?? ""
            await session.close()
            try Output.standard.write("signed in as \(user.shown)\n")
        } catch {
            await session.close()
            throw device.cloud.naming(error, isSigningIn: true)
        }
    }

    private static func ask(_ page: URL) throws -> String {
        Output.standardError.tell("Open \(page.absoluteString)")
        Output.standardError.tell("and paste the address to which the browser is sent, or the token:")
        guard let line = readLine(strippingNewline: true), !line.isEmpty else {
            throw Failure(.noInput, "nothing was pasted, so nobody is signed in")
        }
        return line
    }
}
