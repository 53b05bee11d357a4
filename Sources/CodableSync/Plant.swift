import Foundation

private let planted = ProcessInfo.processInfo.environment["PLANT"]
func plant(_ name: String) -> Bool { planted == name }
