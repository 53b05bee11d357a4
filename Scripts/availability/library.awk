# Looks up the symbols that the compiled library refers to in the symbol graphs of Swift's library and Foundation.
# Input: Package.swift, the symbol graphs with a symbol on each line, then the symbols. Include minimums.awk first.

FILENAME == "Package.swift" { readMinimums($0); next }
FNR == 1 { file++ }

file == 1 {
    if (!match($0, /"precise":"[^"]*"/)) next
    symbol = substr($0, RSTART + 11, RLENGTH - 12)
    symbols++
    rest = $0
    while (match(rest, /"domain":"[A-Za-z]+","introduced":[{]"major":[0-9]+(,"minor":[0-9]+)?/)) {
        entry = substr(rest, RSTART + 10, RLENGTH - 10)
        rest = substr(rest, RSTART + RLENGTH)
        platform = version = entry
        sub(/".*/, "", platform)
        sub(/.*"major":/, "", version)
        sub(/,"minor":/, ".", version)
        if ((platform in minimum) && isLater(version, minimum[platform])) late[symbol] = platform " " version
    }
}

# The compiler refers to these where nothing in the sources does: to the requirements of coders for 128-bit integers, which
# have defaults, and to the newer way to ask a stream for its next element, where the minimum system allows it.
file == 2 && (/6Int128V|7UInt128V/ || /^s:ScS8IteratorV4next9isolation/) { next }

file == 2 {
    references++
    for (n = length($0); n > 3; n--) {
        symbol = substr($0, 1, n)
        if (!(symbol in late)) continue
        if (!(symbol in found)) print "the library refers to " symbol ", which needs " late[symbol]
        found[symbol] = 1
        problems++
        break
    }
}

END {
    if (symbols < 10000 || references < 100) {
        print "check-availability: found no symbol graphs, or no symbols"
        exit 1
    }
    if (problems) {
        print "check-availability: swift demangle $s… says what a symbol s:… is"
        exit 1
    }
    print "check-availability: of " symbols " declarations of Swift's library, none that is too new is used"
}
