import Foundation

/// The name of this computer, without a network request.
enum HostName {
    static var current: String {
        var bytes = [CChar](repeating: 0, count: 256)
        guard gethostname(&bytes, bytes.count - 1) == 0 else { return "device" }
        let name = String(decoding: bytes.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return String(name.prefix { $0 != "." }.isEmpty ? "device" : name.prefix { $0 != "." })
    }
}
