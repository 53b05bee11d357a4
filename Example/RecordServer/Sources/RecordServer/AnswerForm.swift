import ArgumentParser
@_spi(Server) import CodableSync

/// A form of answers that Apple's server may have, too, to try clients on.
enum AnswerForm: String, CaseIterable, ExpressibleByArgument {
    case atomicErrorWithItems = "atomic-error-with-items"
    case atomicError = "atomic-error"
    case alwaysAtomic = "always-atomic"
    case changeTokenExpired = "change-token-expired"
    case nullMoreComing = "null-more-coming"
    case typesOfDeletions = "types-of-deletions"

    static let allValueDescriptions = Dictionary(
        uniqueKeysWithValues: allCases.map { ($0.rawValue, $0.explanation) }
    )

    private var explanation: String {
        switch self {
        case .atomicErrorWithItems: "a failed atomic request gets 400, ATOMIC_ERROR and its items, not 200"
        case .atomicError: "a failed atomic request gets 400 and ATOMIC_ERROR alone"
        case .alwaysAtomic: "every request in a custom zone is atomic"
        case .changeTokenExpired: "an expired token gets CHANGE_TOKEN_EXPIRED, not BAD_REQUEST"
        case .nullMoreComing: "the last page of a zone has null for moreComing, not false"
        case .typesOfDeletions: "a deleted record in a feed has its type"
        }
    }

    func apply(to options: inout RecordServiceOptions) {
        switch self {
        case .atomicErrorWithItems: options.atomicFailure = .errorWithItems
        case .atomicError: options.atomicFailure = .error
        case .alwaysAtomic: options.isAlwaysAtomic = true
        case .changeTokenExpired: options.expiredToken = .changeTokenExpired
        case .nullMoreComing: options.lastPageHasNull = true
        case .typesOfDeletions: options.deletionsHaveTypes = true
        }
    }
}
