// Apple documents these declarations.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public final class SecTask {
    init() {}
}

public func SecTaskCreateFromSelf(_ allocator: CFAllocator?) -> SecTask? {
    StandInEntitlements.values == nil ? nil : SecTask()
}

public func SecTaskCopyValueForEntitlement(
    _ task: SecTask,
    _ entitlement: CFString,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFTypeRef? {
    StandInEntitlements.values?[entitlement].map { $0 as AnyObject }
}
