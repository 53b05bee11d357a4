# Checks stripped code (see strip.awk) against the table.
#   awk -f check.awk table.txt pass=1 CODE pass=2 CODE
# The first pass learns which folder declares which types, the second looks for what is forbidden.

function report(rule, what, remedy) {
    print path ":" line ": " rule ": " what ". " remedy
    violations++
}

# The folder of the table that a path belongs to: the longest that fits; empty if there is none.
function folderOf(path,    rest) {
    rest = path
    sub(/^.*Sources\//, "", rest)
    sub(/^CodableSync\//, "", rest)
    relative = rest
    while (sub(/\/[^\/]*$/, "", rest)) if (rest in isFolder) return rest
    return ""
}

function covers(list, folder, file,    count, i, names) {
    count = split(list, names, " ")
    for (i = 1; i <= count; i++)
        if (names[i] == "everywhere" || names[i] == folder || names[i] == file) return 1
    return 0
}

function readFolder(    i, part) {
    isFolder[$2] = 1
    for (i = 4; i <= NF; i++) {
        split($i, part, ":")
        mayUse[$2, part[1]] = part[2] == "" ? "all" : "," part[2] ","
    }
}

function readRule(    value) {
    value = $0
    sub(/^ *[a-z]+ */, "", value)
    if ($1 == "rule") { ruleCount++; name[ruleCount] = value }
    else if ($1 == "in") where[ruleCount] = value
    else if ($1 == "not") exempt[ruleCount] = value
    else if ($1 == "available") letsThrough[ruleCount] = 1
    else if ($1 == "do") remedy[ruleCount] = value
    else if ($1 == "code") {
        gsub(/@/, "[^A-Za-z0-9_]", value)
        patternCount++
        pattern[patternCount] = value
        ruleOf[patternCount] = ruleCount
    }
    else if ($1 != "plant" && $1 != "fine") { print "table.txt:" FNR ": not understood: " $0; violations++ }
}

# Learns the types that a line declares; only those of the top level can be used by their bare name elsewhere.
function learnTypes(    rest, found, words, isPrivate) {
    rest = " " code
    isPrivate = code ~ /(^|[^A-Za-z])(file)?private[^A-Za-z(]/
    while (match(rest, /[^A-Za-z0-9_.](struct|class|enum|actor|protocol|typealias)[ \t]+[A-Z][A-Za-z0-9_]*/)) {
        found = substr(rest, RSTART + 1, RLENGTH - 1)
        split(found, words, /[ \t]+/)
        own[folder, words[2]] = 1
        if (braces == 0 && !isPrivate && !((words[2], folder) in declared)) {
            declared[words[2], folder] = 1
            homes[words[2]] = homes[words[2]] " " folder
        }
        rest = substr(rest, RSTART + RLENGTH)
    }
}

function checkTypes(    rest, before, word, said) {
    rest = code
    before = ""
    while (match(rest, /[A-Za-z_][A-Za-z0-9_]*/)) {
        before = before substr(rest, 1, RSTART - 1)
        word = substr(rest, RSTART, RLENGTH)
        rest = substr(rest, RSTART + RLENGTH)
        if (word in homes && !((folder, word) in own) && !((word) in said) && isBare(before)) {
            said[word] = 1
            if (!allowed(word))
                report("layers", folder " must not use " word " of" homes[word], \
                    "Move it, or pass a value in; see Documentation/Architecture.md.")
        }
        before = before word
    }
}

# Whether what follows is a name of its own, and not a member of something other than a module.
function isBare(before) {
    return before !~ /[.]$/ || before ~ /(^|[^A-Za-z0-9_.])(CodableSync|RecordCoding)[.]$/
}

function allowed(word,    count, i, places, only) {
    count = split(homes[word], places, " ")
    for (i = 1; i <= count; i++) {
        only = mayUse[folder, places[i]]
        if (only == "all" || index(only, "," word ",") > 0) return 1
    }
    return 0
}

function checkRules(    i, padded, r) {
    padded = " " code " "
    for (i = 1; i <= patternCount; i++) {
        r = ruleOf[i]
        if (letsThrough[r] && isAvailable) continue
        if (padded !~ pattern[i]) continue
        if (!covers(where[r], folder, relative) || covers(exempt[r], folder, relative)) continue
        report(name[r], "not in " folder, remedy[r])
    }
}

# Follows braces, and the blocks that stand behind an availability check with a number in it.
function follow(    i, character) {
    for (i = 1; i <= length(code); i++) {
        character = substr(code, i, 1)
        if (character == "{") {
            braces++
            if (announced && !availableAt) availableAt = braces
            announced = 0
        } else if (character == "}") {
            if (availableAt == braces) availableAt = 0
            braces--
        }
    }
}

FILENAME == tableName {
    if ($1 == "folder") readFolder()
    else if (NF > 0 && $1 !~ /^#/) readRule()
    next
}

{
    split($0, parts, "\t")
    if (path != parts[1] || line > parts[2] + 0) {
        path = parts[1]
        folder = folderOf(path)
        braces = 0
        availableAt = 0
        announced = 0
    }
    line = parts[2] + 0
    code = $0
    sub(/^[^\t]*\t[^\t]*\t/, "", code)
}

path ~ /Package\.swift$/ {
    if (pass == 2 && code ~ /\.package *\(/)
        report("dependencies", "the package has no dependencies", "Do without, or make a package of its own.")
    next
}

pass == 1 { learnTypes() }

pass == 2 && line == 1 && folder == "" && relative != "CodableSync.swift" {
    report("folders", "this folder is in no row of the table", \
        "Use another, or add a row to Scripts/layers/table.txt and to Documentation/Architecture.md.")
}

pass == 2 {
    if (code ~ /[@#]available *\([^)]*[0-9]/) announced = 3
    isAvailable = availableAt || announced
    if (folder != "") checkTypes()
    if (folder != "" || relative == "CodableSync.swift") checkRules()
}

{ if (announced && code !~ /available/) announced--; follow() }

END { exit violations > 0 }
