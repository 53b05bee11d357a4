# Compares the versions of Origins.txt with Package.swift and the files that use the declarations.
# Input: Package.swift, Origins.txt, then the files of Sources. Include minimums.awk first.

FNR == 1 {
    isList = FILENAME ~ /Origins[.]txt$/
    isSource = FILENAME ~ /[.]swift$/ && FILENAME != "Package.swift"
    depth = 0
    delete imported
}
FILENAME == "Package.swift" { readMinimums($0); next }

isList && /^[a-z]+ [|]/ {
    fields = split($0, field, / *[|] */)
    if (field[1] == "module") readModule(); else readDeclaration()
    next
}
isList { next }

function readModule(    n, list, i) {
    modules[field[2]] = 1
    n = split(field[3], list, /, */)
    for (i = 1; i <= n; i++) moduleOf[list[i]] = field[2]
    n = split(field[4], list, /, */)
    for (i = 1; i <= n; i++) hasModule[field[2], list[i]] = 1
}

function readDeclaration(    name, n, list, i, pair, prefix, module, word) {
    name = field[2]
    n = split(field[3], list, /, */)
    for (i = 1; i <= n; i++) {
        if (split(list[i], pair, " ") != 2 || !(pair[1] in minimum) || pair[2] !~ /^[0-9.]+$/) n = 0
        else since[name, pair[1]] = pair[2]
    }
    if (n == 0) {
        report("Origins.txt: " name " has no version that can be read: \"" field[3] "\"")
        unreadable[name] = 1
    }
    for (prefix in moduleOf) if (index(name, prefix) == 1) module = moduleOf[prefix]
    if (module == "") report("Origins.txt: no module has the prefix of " name)
    if (fields > 3) guardFile[name] = field[4]
    # An initializer and a subscript are used by the name of their type.
    word = name
    sub(/[(].*/, "", word)
    sub(/[.](init|subscript)$/, "", word)
    sub(/.*[.]/, "", word)
    named[word] = named[word] "\n" module "\t" name
    declarations++
}

# MARK: Conditions

# Whether a condition holds on a platform: 1, 0, or 2 if that is not known.
function holds(condition, platform,    atom, value, name) {
    while (match(condition, /(os|canImport|targetEnvironment)[(][A-Za-z]+[)]/)) {
        atom = name = substr(condition, RSTART, RLENGTH)
        gsub(/.*[(]|[)]/, "", name)
        if (atom ~ /^os/) value = name == (platform == "macCatalyst" ? "iOS" : platform)
        else if (atom ~ /^target/) value = name == platform
        else if (name in modules) value = (name, platform) in hasModule
        else value = name == "Darwin"
        condition = substr(condition, 1, RSTART - 1) value substr(condition, RSTART + RLENGTH)
    }
    gsub(/ /, "", condition)
    while (match(condition, /[(][01!&|]+[)]/)) {
        name = truth(substr(condition, RSTART + 1, RLENGTH - 2))
        condition = substr(condition, 1, RSTART - 1) name substr(condition, RSTART + RLENGTH)
    }
    return condition ~ /^[01!&|]+$/ ? truth(condition) : 2
}

# The value of a condition of zeros and ones without parentheses.
function truth(condition) {
    gsub(/!0/, "t", condition)
    gsub(/!1/, "f", condition)
    gsub(/t/, "1", condition)
    gsub(/f/, "0", condition)
    # What is left are disjunctions of conjunctions.
    while (condition ~ /[01]&&[01]/) {
        gsub(/1&&1/, "1", condition)
        gsub(/0&&[01]|1&&0/, "0", condition)
    }
    return condition ~ /1/
}

function isCompiled(platform,    i) {
    for (i = 1; i <= depth; i++) if (!active[i, platform]) return 0
    return 1
}

isSource && /^ *#(if|elseif|else|endif)/ {
    condition = $0
    sub(/^ *#[a-z]+ */, "", condition)
    sub(/ *\/\/.*/, "", condition)
    if ($1 == "#if") {
        depth++
        for (platform in minimum) passed[depth, platform] = 0
    }
    for (platform in minimum) {
        value = $1 == "#else" ? 1 : holds(condition, platform)
        active[depth, platform] = value && !passed[depth, platform]
        if (value == 1) passed[depth, platform] = 1
    }
    if ($1 == "#endif") depth--
    next
}

# MARK: Uses

isSource {
    line = $0
    sub(/(^|[^:])\/\/.*/, "", line)
    if (line ~ /(^|[ ])import /) {
        module = line
        sub(/.*import +((class|struct|enum|protocol|func|typealias) +)?/, "", module)
        sub(/[. ].*/, "", module)
        imported[module] = 1
    }
    if (line ~ /[#@]available *[(]/) guards[FILENAME] = guards[FILENAME] " " line
    n = split(line, words, /[^A-Za-z0-9_]+/)
    for (i = 1; i <= n; i++) if (words[i] in named) use(words[i])
}

function use(word,    n, list, i, pair, platform) {
    n = split(named[word], list, "\n")
    for (i = 1; i <= n; i++) {
        if (split(list[i], pair, "\t") != 2 || !(pair[1] in imported)) continue
        if (!((pair[2], FILENAME) in seen)) uses++
        seen[pair[2], FILENAME] = 1
        for (platform in minimum) if (isCompiled(platform)) check(pair[2], platform)
    }
}

function check(name, platform) {
    if ((name, platform, FILENAME) in checked || name in unreadable) return
    checked[name, platform, FILENAME] = 1
    if (!((name, platform) in since)) {
        report(FILENAME ":" FNR ": " name " does not exist on " platform ": exclude it with #if")
    } else if (isLater(since[name, platform], minimum[platform])) {
        wanted[name "\t" platform "\t" FILENAME] = FILENAME ":" FNR
    }
}

function report(text) {
    print text
    problems++
}

END {
    for (key in wanted) {
        split(key, part, "\t")
        version = since[part[1], part[2]]
        gsub(/[.]/, "[.]", version)
        if (guardFile[part[1]] != part[3]) {
            report(wanted[key] ": " part[1] " needs " part[2] " " since[part[1], part[2]] ", the minimum is " \
                minimum[part[2]] ": guard it with #available, and name the file in Origins.txt")
        } else if (guards[part[3]] !~ ("available *[(][^)]*" part[2] " " version "([.]0)?[^0-9.]")) {
            report(part[3] ": there is no #available for " part[2] " " since[part[1], part[2]] ", which guards " part[1])
        }
    }
    if (!declarations || !uses) report("check-availability: found no declarations, or no uses")
    if (problems) exit 1
    print "check-availability: " declarations " declarations, used " uses " times, exist where they are used"
}
