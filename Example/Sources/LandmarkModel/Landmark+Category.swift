extension Landmark {
    /// What a landmark is; the raw value is the field's value.
    ///
    /// A category of a newer version of the app cannot be decoded by this one. The engine then reports the
    /// record and never overwrites it, which a fall-back to ``other`` would.
    public enum Category: String, Codable, CaseIterable, Hashable, Sendable {
        /// Something to cross.
        case bridge
        /// A building of our days.
        case building
        /// A castle or a palace.
        case castle
        /// Something built to remember.
        case monument
        /// Nobody built it.
        case nature
        /// What is left of something old.
        case ruin
        /// A place of worship, of any faith.
        case sanctuary
        /// An open place in a town.
        case square
        /// Something high.
        case tower
        /// Anything else.
        case other

        // Kinds of places, in the words of Natural Earth.
        /// A town or a village.
        case populatedPlace = "populated-place"
        /// The capital of a country.
        case countryCapital = "admin-0-capital"
        /// Another seat of a country's government.
        case countryCapitalSeat = "admin-0-capital-alt"
        /// The capital of a dependency.
        case dependencyCapital = "admin-0-region-capital"
        /// The capital of a province.
        case provinceCapital = "admin-1-capital"
        /// The capital of a region within a country.
        case provinceRegionCapital = "admin-1-region-capital"
        /// A place that is no more.
        case historicPlace = "historic-place"
        /// A station that watches the weather.
        case meteorologicalStation = "meteorological-station"
        /// A station for research.
        case scientificStation = "scientific-station"

        /// Reads a category in any spelling: case, spaces and punctuation do not matter.
        ///
        /// - Parameter text: For example `Admin-1 capital`; unknown words are ``other``.
        public init(text: String) {
            let words = text.lowercased().split { !$0.isLetter && !$0.isNumber }
            self = Self(rawValue: words.joined(separator: "-")) ?? .other
        }
    }
}
