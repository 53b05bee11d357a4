import Foundation

/// Values as JSON, with sorted keys: equal values give equal bytes.
enum JSONText {
    static func of(_ value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(date.timestamp)
        }
        do {
            return String(decoding: try encoder.encode(value), as: UTF8.self)
        } catch {
            // The types passed here hold only strings, integers and finite numbers.
            return
                #"{"error":{"code":"software","exit":70,"message":"the answer cannot be written as JSON"}}"#
        }
    }
}

extension Date {
    /// The format of `1889-03-31T00:00:00.000Z`.
    var timestamp: String {
        formatted(
            .iso8601.year().month().day().timeZone(separator: .omitted).time(includingFractionalSeconds: true)
        )
    }
}
