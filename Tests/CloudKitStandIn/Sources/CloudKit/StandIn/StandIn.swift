// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import Foundation
import Security

/// Which service answers for which container, and what Apple's classes check when they are made.
public enum StandIn {
    /// The identifier of `CKContainer.default()`.
    public static let defaultContainer = "iCloud.stand-in"

    /// Guarded by its lock.
    private final class Services: @unchecked Sendable {
        private let lock = NSLock()
        private var services: [String: any StandInService] = [:]
        private var uses: [String: Int] = [:]

        func name(_ service: any StandInService, for container: String) {
            lock.withLock { services[container] = service }
        }

        func use(for container: String) -> (any StandInService)? {
            lock.withLock {
                uses[container, default: 0] += 1
                return services[container]
            }
        }

        func useCount(_ container: String) -> Int { lock.withLock { uses[container, default: 0] } }
    }

    private static let services = Services()

    /// Lets a service answer for the containers with this identifier that are made from now on.
    public static func use(_ service: any StandInService, for container: String) {
        services.name(service, for: container)
    }

    /// How many containers with this identifier were made.
    public static func containerCount(_ container: String) -> Int { services.useCount(container) }

    static func service(of container: String) -> any StandInService {
        guard let service = services.use(for: container) else {
            preconditionFailure("no service was named for \(container)")
        }
        return service
    }

    // MARK: What Apple's classes raise exceptions for

    enum NameKind {
        case recordName, zoneName, ownerName, identifier, field
    }

    /// The names that a field cannot have: the properties of a record, with those that Apple does not document.
    private static let properties: Set<String> = [
        "recordID", "recordType", "recordChangeTag", "creationDate", "modificationDate",
        "creatorUserRecordID", "lastModifiedUserRecordID", "parent", "share", "encryptedValues", "etag",
        "modifiedByDevice",
    ]

    static func check(name: String, _ kind: NameKind) {
        check(!name.isEmpty, "\(kind) is empty")
        switch kind {
        case .ownerName: break
        case .recordName:
            check(name.utf8.count <= 255 && name.utf8.allSatisfy { $0 < 0x80 }, "\(kind) \(name)")
            check(!name.hasPrefix("_") || name.hasPrefix("__defaultOwner"), "\(kind) \(name)")
        case .zoneName:
            check(name.utf8.count <= 255 && name.utf8.allSatisfy { $0 < 0x80 }, "\(kind) \(name)")
            check(!name.hasPrefix("_") || name == CKRecordZone.ID.defaultZoneName, "\(kind) \(name)")
        case .field:
            check(!properties.contains(name), "\(kind) \(name) is reserved")
            check(name: name, .identifier)
        case .identifier:
            let letters = name.utf8.allSatisfy { $0 < 0x80 && ($0 == 0x2E || $0 == 0x5F || isWord($0)) }
            check(letters && !name.hasPrefix("_") && !isDigit(name.utf8.first), "\(kind) \(name)")
        }
    }

    private static func isDigit(_ byte: UInt8?) -> Bool { byte.map { (0x30...0x39).contains($0) } ?? false }

    private static func isWord(_ byte: UInt8) -> Bool {
        isDigit(byte) || (0x41...0x5A).contains(byte & ~0x20)
    }

    /// Without the service, Apple's initializer ends the process.
    static func checkEntitlements() {
        let services = StandInEntitlements.values?["com.apple.developer.icloud-services"] as? [String] ?? []
        if !services.contains("CloudKit"), StandInEntitlements.values != nil {
            preconditionFailure("In order to use CloudKit, a process must have an entitlement")
        }
    }

    /// Without a container in the entitlements, Apple raises an exception.
    static func checkDefaultContainer() {
        let key = "com.apple.developer.icloud-container-identifiers"
        let containers = StandInEntitlements.values?[key] as? [String] ?? []
        if containers.isEmpty, StandInEntitlements.values != nil {
            preconditionFailure("CKException: containerIdentifier can not be nil")
        }
    }

    /// Apple raises `NSInvalidArgumentException`, which Swift cannot catch: no adapter may cause it.
    static func check(_ holds: Bool, _ what: @autoclosure () -> String) {
        if !holds { preconditionFailure("NSInvalidArgumentException: \(what())") }
    }

    /// Whether Apple raises an exception is not documented, so an adapter must not find out.
    static func check<ID: Hashable>(unique ids: [ID]) {
        check(Set(ids).count == ids.count, "a request names an item twice")
    }

    /// A value in the class in which Apple's records return it.
    public static func object(_ value: any CKRecordValueProtocol) -> any CKRecordValueProtocol {
        switch value {
        // First, since a whole number can also be cast to an integer.
        case let number as NSNumber: return number
        case let text as String: return NSString(string: text)
        case let number as Int64: return NSNumber(value: number)
        case let number as Double: return NSNumber(value: number)
        case let date as Date:
            return NSDate(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate)
        case let data as Data: return NSData(data: data)
        case let list as NSArray:
            let elements = list.map { element -> any CKRecordValueProtocol in
                guard let element = element as? any CKRecordValueProtocol, !(element is NSArray) else {
                    preconditionFailure("NSInvalidArgumentException: a list holds \(element)")
                }
                return object(element)
            }
            check(Set(elements.map { "\(type(of: $0))" }).count <= 1, "a list of several kinds")
            return NSArray(array: elements.map { $0 as Any })
        default: return value
        }
    }
}
