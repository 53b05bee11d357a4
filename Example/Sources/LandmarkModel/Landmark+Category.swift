extension Landmark {
    /// What a landmark is; the raw value is the field's value.
    ///
    /// This version of the app can't decode a category that a newer one has added. The engine then reports the
    /// record and never overwrites it, as a fallback to ``other`` would.
    public enum Category: String, Codable, CaseIterable, Hashable, Sendable {
        /// A bridge.
        case bridge
        /// A modern building.
        case building
        /// A castle or a palace.
        case castle
        /// A monument.
        case monument
        /// A natural landmark.
        case nature
        /// A ruin.
        case ruin
        /// A place of worship, of any faith.
        case sanctuary
        /// A square.
        case square
        /// A tower.
        case tower
        /// None of the others.
        case other

        // Kinds of places, in the words of Natural Earth.
        /// A town or a village.
        case populatedPlace = "populated-place"
        /// The capital of a country.
        case countryCapital = "admin-0-capital"
        /// A second capital of a country.
        case countryCapitalSeat = "admin-0-capital-alt"
        /// The capital of a dependency.
        case dependencyCapital = "admin-0-region-capital"
        /// The capital of a province.
        case provinceCapital = "admin-1-capital"
        /// The capital of a region within a country.
        case provinceRegionCapital = "admin-1-region-capital"
        /// A former place.
        case historicPlace = "historic-place"
        /// A weather station.
        case meteorologicalStation = "meteorological-station"
        /// A research station.
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
