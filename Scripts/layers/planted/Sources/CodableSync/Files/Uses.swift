// Files/ may use nothing of Cloud/. Meaning in a comment is no use.
let one = Meaning()  // PLANTED layers
let two = "Meaning" + other.Meaning
let three = CodableSync.Meaning()  // PLANTED layers
let four = Inner.self
let five = Hidden()
extension Meaning {}  // PLANTED layers
struct Own {
    struct Shared {}
    let shared: Shared
}
func six(_ meanings: [Meaning]) -> Meaning? { nil }  // PLANTED layers
