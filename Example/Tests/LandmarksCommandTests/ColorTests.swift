import Foundation
import XCTest

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Colors: on a terminal only, and not if the user has turned them off.
final class ColorTests: CommandTestCase {
    func testTheDemoIsColoredOnATerminalUnlessTheUserForbidsIt() throws {
        let rows: [(noColor: String?, isColored: Bool)] = [(nil, true), ("", true), ("1", false)]
        for row in rows {
            let demo = process(["demo"])
            demo.environment?["NO_COLOR"] = row.noColor
            let text = try outputOnATerminal(of: demo)
            XCTAssertEqual(demo.terminationStatus, 0, text)
            XCTAssertTrue(text.contains("Everything came true."), text)
            XCTAssertEqual(text.contains("\u{1B}["), row.isColored, "NO_COLOR is \(row.noColor ?? "not set")")
        }
    }

    /// Runs a process whose standard output is a terminal.
    private func outputOnATerminal(of process: Process) throws -> String {
        let controller = posix_openpt(O_RDWR | O_NOCTTY)
        guard controller >= 0, grantpt(controller) == 0, unlockpt(controller) == 0,
            let name = ptsname(controller)
        else { throw POSIXError(.init(rawValue: errno) ?? .ENODEV) }
        defer { close(controller) }
        let terminal = open(name, O_RDWR | O_NOCTTY)
        guard terminal >= 0 else { throw POSIXError(.init(rawValue: errno) ?? .ENODEV) }
        process.standardOutput = FileHandle(fileDescriptor: terminal, closeOnDealloc: false)
        process.standardInput = FileHandle.nullDevice
        try process.run()
        close(terminal)
        // On Linux, reading fails once the process has closed its end; elsewhere it returns nothing.
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while case let count = read(controller, &buffer, buffer.count), count > 0 {
            text += buffer[..<count]
        }
        process.waitUntilExit()
        return String(decoding: text, as: UTF8.self)
    }
}
