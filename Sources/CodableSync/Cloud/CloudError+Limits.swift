@_spi(Reasons) import RecordCoding

extension CloudError {
    /// Converts an error about an invalid name or value.
    init(refusing error: RecordCodingError) {
        let isSize = if case .tooLarge = error { true } else { false }
        self.init(isSize ? .limitExceeded : .invalidArguments, message: String(describing: error))
    }
}
