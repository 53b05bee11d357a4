@_spi(Server) import CodableSync
import Foundation
import Hummingbird
import NIOCore

/// The JSON that a client has sent, whose size and depth were checked before a tree is made of it.
///
/// Routes read JSON in no other way.
struct JSONBody: Sendable {
    /// Why a body can't be used.
    struct Refusal: Error {
        let status: Int
        let code: String
        let reason: String

        static func tooLarge(_ limit: Int) -> Refusal {
            Refusal(status: 413, code: "LIMIT_EXCEEDED", reason: "the body has more than \(limit) bytes")
        }

        var answer: RecordService.Answer { .refusal(status: status, code: code, reason: reason) }
    }

    let bytes: [UInt8]

    fileprivate init(_ bytes: [UInt8], limit: Int) throws(Refusal) {
        do {
            try RecordService.check(bytes, limit: limit)
        } catch {
            let isTooLarge = error.code == .limitExceeded
            throw Refusal(
                status: isTooLarge ? 413 : 400,
                code: isTooLarge ? "LIMIT_EXCEEDED" : "BAD_REQUEST",
                reason: error.message
            )
        }
        self.bytes = bytes
    }

    /// Reads a value; no bytes stand for an empty object.
    func decode<Value: Decodable>(_ type: Value.Type, orRefuse reason: String) throws(Refusal) -> Value {
        do {
            return try JSONDecoder().decode(type, from: Data(bytes.isEmpty ? Array("{}".utf8) : bytes))
        } catch {
            throw Refusal(status: 400, code: "BAD_REQUEST", reason: reason)
        }
    }
}

extension Request {
    /// The JSON of the body.
    ///
    /// - Parameter limit: The most bytes that it may have.
    /// - Returns: The body, which may turn out not to be JSON.
    /// - Throws: ``JSONBody/Refusal`` if it is too large or nested too deeply, or the error of the connection.
    func json(upTo limit: Int) async throws -> JSONBody {
        guard let bytes = try await body(upTo: limit) else { throw JSONBody.Refusal.tooLarge(limit) }
        return try JSONBody(bytes, limit: limit)
    }

    /// The bytes of the body; `nil` if there are more than the limit.
    func body(upTo limit: Int) async throws -> [UInt8]? {
        if let length = headers[.contentLength].flatMap(Int.init), length > limit { return nil }
        do {
            return Array(buffer: try await body.collect(upTo: limit))
        } catch is NIOTooManyBytesError {
            return nil
        }
    }
}
