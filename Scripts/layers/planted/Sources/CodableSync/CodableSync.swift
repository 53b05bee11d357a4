/* A comment /* within a comment: fatalError() */ try! */
let one = "fatalError() \" try! "
let two = "\(fatalError())" // PLANTED trap
let three = """
    fatalError() " try!
    \(three(try! four("fatalError()"))) // PLANTED trap
    """
let four = #"fatalError() " \(try!) "# + #"\#(try! five())"# // PLANTED trap
let five = /* fatalError() */ try! six() // PLANTED trap
@available(iOS 18, macOS 15, *)
struct Newer {
    let lock = Mutex(0)
    func nothing() {}
}
let lock = Mutex(0) // PLANTED too-new
func read() {
    if #available(iOS 26, macOS 26, *) {
        let span: Span<Int>
    }
    let span: Span<Int> // PLANTED too-new
}
@available(*, deprecated)
let big = Int128(0) // PLANTED too-new
let six = "\(name) fatalError() \(f(g(h))) fatalError()"
let seven = "\(f(g) + (try! h()))"  // PLANTED trap
