// Apple documents these declarations.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public class SecTask {
    init() {}
}

public func SecTaskCreateFromSelf(_ allocator: CFAllocator?) -> SecTask? { SecTask() }

public func SecTaskCopyValueForEntitlement(
    _ task: SecTask,
    _ entitlement: CFString,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFTypeRef? {
    guard let values = StandInEntitlements.values else {
        error?.pointee = Unmanaged.passRetained(CFError())
        return nil
    }
    return values[entitlement].map { $0 as AnyObject }
}
