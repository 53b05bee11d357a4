import RecordCoding

/// The body of a request, or a part of it; what is missing or malformed in it is refused by name.
struct ServiceBody: Sendable {
    let json: WebJSON
    /// Where it stands in the request, such as `operations[2].record`; empty for the whole body.
    private let path: String

    /// Reads a body.
    ///
    /// - Throws: `limitExceeded` if it is too large; `invalidArguments` if it is no JSON object or nested too deeply.
    init(_ bytes: [UInt8], limit: Int) throws(CloudError) {
        try RecordService.check(bytes, limit: limit)
        path = ""
        if bytes.isEmpty {
            json = .object([:])
            return
        }
        do {
            json = try WebJSON(bytes)
        } catch {
            throw .badRequest("the body is not JSON")
        }
        guard case .object = json else { throw .badRequest("the body is not a JSON object") }
    }

    private init(_ json: WebJSON, _ path: String) {
        self.json = json
        self.path = path
    }

    private func place(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

    private func malformed(_ key: String, _ expected: String) -> CloudError {
        .badRequest("\(place(key)) is not \(expected)")
    }

    func missing(_ key: String) -> CloudError { .badRequest("\(place(key)) is missing") }

    // MARK: Members, nil if they are missing or null

    func text(_ key: String) throws(CloudError) -> String? {
        guard let value = json[key] else { return nil }
        guard let text = value.string else { throw malformed(key, "a string") }
        return text
    }

    func bool(_ key: String) throws(CloudError) -> Bool? {
        guard let value = json[key] else { return nil }
        guard let bool = value.bool else { throw malformed(key, "a Boolean") }
        return bool
    }

    func count(_ key: String) throws(CloudError) -> Int? {
        guard let value = json[key] else { return nil }
        guard let number = value.int, number > 0 else { throw malformed(key, "a positive number") }
        return Int(clamping: number)
    }

    func object(_ key: String) throws(CloudError) -> ServiceBody? {
        guard let value = json[key] else { return nil }
        guard case .object = value else { throw malformed(key, "an object") }
        return ServiceBody(value, place(key))
    }

    func objects(_ key: String) throws(CloudError) -> [ServiceBody]? {
        guard let value = json[key] else { return nil }
        guard let elements = value.array else { throw malformed(key, "an array") }
        var objects: [ServiceBody] = []
        for (index, element) in elements.enumerated() {
            guard case .object = element else { throw malformed("\(key)[\(index)]", "an object") }
            objects.append(ServiceBody(element, place("\(key)[\(index)]")))
        }
        return objects
    }

    func texts(_ key: String) throws(CloudError) -> [String]? {
        guard let value = json[key] else { return nil }
        guard let elements = value.array else { throw malformed(key, "an array") }
        let texts = elements.compactMap(\.string)
        guard texts.count == elements.count else { throw malformed(key, "an array of strings") }
        return texts
    }

    // MARK: Zones

    func zoneID(_ key: String) throws(CloudError) -> ZoneID? { try object(key)?.asZoneID() }

    /// The zone's ID that this object is.
    func asZoneID() throws(CloudError) -> ZoneID {
        guard let name = try text("zoneName"), !name.isEmpty else { throw missing("zoneName") }
        let zoneID = ZoneID(
            zoneName: name,
            ownerName: try text("ownerRecordName") ?? ZoneID.currentUserOwnerName
        )
        do throws(RecordCodingError) {
            try RecordLimits.check(zoneID)
        } catch {
            throw .badRequest(String(describing: error))
        }
        return zoneID
    }

    // MARK: What a server must say that it can't do

    /// - Throws: `invalidArguments` if an option is set that would change the answer's form.
    func refuse(_ keys: String...) throws(CloudError) {
        for key in keys where try bool(key) == true { throw .badRequest("this server has no \(key)") }
    }
}

extension RecordService {
    private static let maximumDepth = 64

    /// Checks the size and the shape of a body before a tree is made of it, whether or not it is JSON.
    ///
    /// - Parameters:
    ///   - body: The body.
    ///   - limit: The most bytes that it may have.
    /// - Throws: ``CloudError``: `limitExceeded` if it is too large; `invalidArguments` if it is nested too deeply.
    @_spi(Server) public static func check(_ body: [UInt8], limit: Int) throws(CloudError) {
        guard body.count <= limit else {
            throw CloudError(.limitExceeded, message: "The body has more than \(limit) bytes.")
        }
        let shape = JSONShape(body)
        guard shape.depth <= maximumDepth else { throw .badRequest("the body is nested too deeply") }
        guard shape.values <= JSONShape.maximumValues else {
            throw CloudError(
                .limitExceeded,
                message: "The body has more than \(JSONShape.maximumValues) values."
            )
        }
    }
}

extension CloudError {
    static func badRequest(_ reason: String) -> CloudError { CloudError(.invalidArguments, message: reason) }
}
