extension RecordLocation {
    /// All numbers in the order of their declaration.
    var numbers: [Double?] {
        [latitude, longitude, altitude, horizontalAccuracy, verticalAccuracy, course, speed]
    }
}
