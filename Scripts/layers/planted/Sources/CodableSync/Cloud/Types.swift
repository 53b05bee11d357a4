public struct Meaning {
    enum Inner {}
}
private struct Hidden {}
final class Shared {}
