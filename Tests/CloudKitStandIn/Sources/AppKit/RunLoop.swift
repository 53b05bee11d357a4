// Apple documents these declarations.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Foundation

extension RunLoop.Mode {
    public static let modalPanel = RunLoop.Mode("NSModalPanelRunLoopMode")
}

// Core Foundation's functions, which other Foundations have not.

public final class CFRunLoop: Sendable {
    static let main = CFRunLoop()
}

public func CFRunLoopGetMain() -> CFRunLoop! { CFRunLoop.main }

public func CFRunLoopWakeUp(_ rl: CFRunLoop!) {
    // A block of the main queue wakes its run loop, which then performs what waits in any of its modes.
    DispatchQueue.main.async {}
}
