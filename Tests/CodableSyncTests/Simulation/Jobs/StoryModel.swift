@testable import CodableSync

/// What a story of jobs needs of its model: a set of stamps, each written once.
protocol StoryModel: RecordCodable, Equatable {
    init(name: String)
    var stamps: [String] { get set }
}

extension StampSet: StoryModel {}
