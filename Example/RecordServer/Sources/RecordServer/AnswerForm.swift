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
