import Foundation

/// Reading the answer to a request, and what something between may have said instead of the services.
extension WebAnswer {
    /// - Parameters:
    ///   - response: The response.
    ///   - now: The date at which it arrived.
    ///   - maximumValues: The most values of JSON that is read.
    init(
        _ response: WebTransportResponse,
        at now: Date,
        maximumValues: Int = JSONShape.maximumValues
    ) {
        let bytes = Array(response.body)
        // Before a tree is made of it.
        let isTooLarge = response.isTooLarge || JSONShape(bytes).values > maximumValues
        var json: WebJSON?
        do {
            if !isTooLarge { json = try WebJSON(bytes) }
        } catch {
            // The page of a proxy, say; the status tells the rest.
        }
        let wait = response.headers["retry-after"].flatMap { Self.seconds($0, from: now) }
        self.init(
            status: response.status,
            json: json,
            retryAfter: wait.flatMap { $0 > 0 ? Duration(webWait: $0) : nil }
        )
        self.isTooLarge = isTooLarge
    }

    /// The wait in the header `Retry-After`: a number of seconds or a date.
    ///
    /// [RFC 9110, 10.2.3](https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3)
    private static func seconds(_ text: String, from now: Date) -> Double? {
        if let seconds = Double(text) { return seconds }
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = .gmt
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return format.date(from: text)?.timeIntervalSince(now)
    }

    /// Whether something between answers for a server that may have done what was asked.
    ///
    /// The services say why they refuse a request, in JSON. A proxy that has lost its server, or gives up waiting for it,
    /// does not; with the statuses of a client's mistake or an unavailable service, it has passed nothing on.
    var isOfUnknownEffect: Bool {
        guard status != 200, json?["serverErrorCode"] == nil else { return false }
        return !(300..<500 ~= status) && status != 503
    }

    /// Whether it came over a connection that leads to a server for another name, which has done nothing.
    ///
    /// [RFC 9110, 15.5.20](https://www.rfc-editor.org/rfc/rfc9110#section-15.5.20); the services use the status with a code
    /// for something else.
    var isMisdirected: Bool { status == 421 && json?["serverErrorCode"] == nil }

    /// Whether the services refuse the token.
    ///
    /// Without a code, a 401 or a 421 is that of something between.
    var isRefused: Bool {
        let code = json?["serverErrorCode"]?.string
        return code == "AUTHENTICATION_REQUIRED" || code == "AUTHENTICATION_FAILED"
    }
}
