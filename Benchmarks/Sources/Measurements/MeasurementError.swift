/// A file of measurements that is not what it should be, and what to do about it.
package struct MeasurementError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
