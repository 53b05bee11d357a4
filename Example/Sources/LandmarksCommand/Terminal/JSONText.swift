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
            // The types that come here hold strings, integers and finite numbers only.
            return
                #"{"error":{"code":"software","exit":70,"message":"the answer cannot be written as JSON"}}"#
        }
    }
}

extension Date {
    /// As in `1889-03-31T00:00:00.000Z`.
    var timestamp: String {
        formatted(
            .iso8601.year().month().day().timeZone(separator: .omitted).time(includingFractionalSeconds: true)
        )
    }
}
