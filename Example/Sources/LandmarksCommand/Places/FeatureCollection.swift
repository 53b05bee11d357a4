import Foundation

/// A feature that can't be imported, and the reason.
struct FeatureFault: Equatable {
    /// The index in the list of features.
    var index: Int
    /// The feature's name, if it can be read.
    var name: String?
    var reason: String

    var description: String {
        let name = name.map { " (\"\(String($0.prefix(80)).shown)\")" } ?? ""
        return "features[\(index)]\(name): \(reason.oneLine)"
    }
}

/// A GeoJSON file of points, read feature by feature, so that an invalid one doesn't block the others.
struct FeatureCollection {
    /// A place, with its index in the file and its record name.
    struct Entry: Equatable {
        var index: Int
        var recordName: String
        var place: Place
    }

    let featureCount: Int
    /// The features that can be imported.
    let entries: [Entry]
    /// The features that can't.
    let faults: [FeatureFault]

    /// Reads a file.
    ///
    /// - Parameter data: The file's bytes.
    /// - Throws: ``Failure`` if the file isn't a feature collection.
    init(_ data: Data) throws {
        let features: [LenientFeature]
        do {
            features = try JSONDecoder().decode(Root.self, from: data).features
        } catch let error as InvalidFeature {
            throw Failure(.badData, error.reason)
        } catch {
            throw Failure(.badData, Self.reason(of: error))
        }
        featureCount = features.count
        let names = PlaceNames(identifiers: features.compactMap { $0.label?.identifier })
        var entries: [Entry] = []
        var faults: [FeatureFault] = []
        var indexes: [String: Int] = [:]
        for (index, feature) in features.enumerated() {
            do {
                let place = try feature.result.get()
                let recordName = try names.recordName(of: place)
                if let first = indexes.updateValue(index, forKey: recordName) {
                    indexes[recordName] = first
                    throw InvalidFeature(reason: "it has the name and coordinates of features[\(first)]")
                }
                entries.append(Entry(index: index, recordName: recordName, place: place))
            } catch {
                let reason = (error as? InvalidFeature)?.reason ?? "\(error)"
                faults.append(FeatureFault(index: index, name: feature.label?.name, reason: reason))
            }
        }
        self.entries = entries
        self.faults = faults
    }

    /// A decoding error in words, with its path.
    fileprivate static func reason(of error: any Error, below depth: Int = 0) -> String {
        switch error {
        case let error as InvalidFeature: error.reason
        case DecodingError.keyNotFound(let key, let context):
            "\(path(context.codingPath + [key], below: depth)) is missing"
        case DecodingError.valueNotFound(_, let context):
            "\(path(context.codingPath, below: depth)) is null"
        case DecodingError.typeMismatch(_, let context):
            "\(path(context.codingPath, below: depth)): \(context.debugDescription)"
        case DecodingError.dataCorrupted(let context) where context.codingPath.isEmpty:
            "it is not JSON: \(context.underlyingError.map { "\($0)" } ?? context.debugDescription)"
        case DecodingError.dataCorrupted(let context):
            "\(path(context.codingPath, below: depth)): \(context.debugDescription)"
        // The decoder reports a number outside of its type's range by an error of its own.
        default:
            number(in: error).map { "the number \($0.shown) is too large" }
                ?? "a value cannot be read: \(error)"
        }
    }

    /// The number in Foundation's error for one outside of its type's range, which is not public.
    private static func number(in error: any Error) -> String? {
        "\(error)".wholeMatch(of: /numberIsNotRepresentableInSwift\(parsed: "(.+)"\)/)
            .map { String($0.output.1) }
    }

    private static func path(_ keys: [any CodingKey], below depth: Int) -> String {
        var path = ""
        for key in keys.dropFirst(depth) {
            if let index = key.intValue {
                path += "[\(index)]"
            } else {
                path += (path.isEmpty ? "" : ".") + key.stringValue
            }
        }
        return path.isEmpty ? "the value" : path
    }

    private struct Root: Decodable {
        let features: [LenientFeature]

        private enum CodingKeys: CodingKey {
            case type, features
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            let type = try container.decode(String.self, forKey: .type)
            guard type == "FeatureCollection" else {
                throw InvalidFeature(reason: "type is \"\(type.shown)\", it must be \"FeatureCollection\"")
            }
            features = try container.decode([LenientFeature].self, forKey: .features)
        }
    }

    private struct LenientFeature: Decodable {
        let result: Result<Place, InvalidFeature>
        let label: FeatureLabel?

        init(from decoder: any Decoder) throws {
            do {
                result = .success(try Feature(from: decoder).place)
            } catch {
                let depth = decoder.codingPath.count
                result = .failure(InvalidFeature(reason: FeatureCollection.reason(of: error, below: depth)))
            }
            do {
                label = try FeatureLabel(from: decoder)
            } catch {
                label = nil  // It is no object; the reason is in the result.
            }
        }
    }
}
