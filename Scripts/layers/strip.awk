# Prints the code of Swift files as FILE <tab> LINE <tab> CODE: comments are left out, and of a string its quotes
# and the code of its interpolations stay.

function endLine() {
    # A string of one line ends with its line, also where something was misread.
    while (depth > 0 && kind[depth] == "string" && !multi[depth]) depth--
    print FILENAME "\t" FNR "\t" code
}

function hashesAt(text, at,    count) {
    while (substr(text, at + count, 1) == "#") count++
    return count
}

function inComment(line, at,    two) {
    two = substr(line, at, 2)
    if (two == "/*") { comment++; return at + 2 }
    if (two == "*/") { comment--; return at + 2 }
    return at + 1
}

function inString(line, at,    closing, escape) {
    closing = (multi[depth] ? "\"\"\"" : "\"") hashes[depth]
    if (substr(line, at, length(closing)) == closing) {
        depth--
        code = code "\""
        return at + length(closing)
    }
    escape = "\\" hashes[depth]
    if (substr(line, at, length(escape)) != escape) return at + 1
    at += length(escape)
    if (substr(line, at, 1) != "(") return at + 1
    depth++
    kind[depth] = "interpolation"
    open[depth] = 1
    code = code "("
    return at + 1
}

function beginString(line, at, count) {
    depth++
    kind[depth] = "string"
    hashes[depth] = substr("################", 1, count)
    multi[depth] = substr(line, at + count, 3) == "\"\"\""
    code = code "\""
    return at + count + (multi[depth] ? 3 : 1)
}

function inCode(line, at,    character, count) {
    character = substr(line, at, 1)
    if (character == "/" && substr(line, at + 1, 1) == "/") return length(line) + 1
    if (character == "/" && substr(line, at + 1, 1) == "*") { comment = 1; code = code " "; return at + 2 }
    count = character == "#" ? hashesAt(line, at) : 0
    if (substr(line, at + count, 1) == "\"") return beginString(line, at, count)
    if (depth > 0 && character == "(") open[depth]++
    if (depth > 0 && character == ")" && --open[depth] == 0) depth--
    code = code character
    return at + 1
}

FNR == 1 { depth = 0; comment = 0 }

depth == 0 && comment == 0 && !/["\/]/ { print FILENAME "\t" FNR "\t" $0; next }

{
    code = ""
    at = 1
    while (at <= length($0)) {
        if (comment > 0) at = inComment($0, at)
        else if (depth > 0 && kind[depth] == "string") at = inString($0, at)
        else at = inCode($0, at)
    }
    endLine()
}
