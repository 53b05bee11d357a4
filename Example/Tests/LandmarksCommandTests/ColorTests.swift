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
        let controller = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        guard controller >= 0 else { throw POSIXError(.init(rawValue: errno) ?? .ENODEV) }
        defer { close(controller) }
        let terminal = open(try terminalName(of: controller), O_RDWR | O_NOCTTY)
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

    #if os(Linux)
        /// Unlocks the terminal of a controller, and returns its name; Glibc's functions for this are not imported.
        private func terminalName(of controller: Int32) throws -> String {
            let (setLock, getNumber): (UInt, UInt) = (0x4004_5431, 0x8004_5430)
            var lock: Int32 = 0
            var number: UInt32 = 0
            guard ioctl(controller, setLock, &lock) == 0, ioctl(controller, getNumber, &number) == 0 else {
                throw POSIXError(.init(rawValue: errno) ?? .ENODEV)
            }
            return "/dev/pts/\(number)"
        }
    #else
        /// Unlocks the terminal of a controller, and returns its name.
        private func terminalName(of controller: Int32) throws -> String {
            guard grantpt(controller) == 0, unlockpt(controller) == 0, let name = ptsname(controller) else {
                throw POSIXError(.init(rawValue: errno) ?? .ENODEV)
            }
            return String(cString: name)
        }
    #endif
}
