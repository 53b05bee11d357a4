# Reads the table and prints what the self-test plants: PACKAGE <tab> PATH <tab> RULE, or - for none <tab> LINE.

function prefix(folder) { return folder == "RecordCoding" ? "Sources/" : "Sources/CodableSync/" }

function plant(folder, rule, content) {
    number++
    print "words\t" prefix(folder) folder "/Planted" number ".swift\t" rule "\t" content
}

function isExempt(folder) { return index(" " exempt " ", " " folder " ") > 0 }

# Plants a line in every folder where the rule holds, and where it does not; there it must not be reported.
function plantEverywhere(content, rule,    i, holds) {
    for (i = 1; i <= folderCount; i++) {
        holds = (where == "everywhere" || index(" " where " ", " " folders[i] " ") > 0) && !isExempt(folders[i])
        if (holds) plant(folders[i], rule, content)
        else if (rule != "-" && isExempt(folders[i])) plant(folders[i], "-", content)
    }
}

function endPattern() {
    if (pattern != "" && !planted) {
        print "table.txt: nothing is planted for the pattern " pattern > "/dev/stderr"
        failed = 1
    }
    pattern = ""
    planted = 0
}

function typeName(folder) { gsub(/\//, "", folder); return "TypeOf" folder }

function use(from, to, type, rule) {
    number++
    print "uses\t" prefix(from) from "/Use" number ".swift\t" rule "\tlet value = " type "()"
}

{ value = $0; sub(/^ *[a-z]+ */, "", value) }
$1 == "folder" {
    folders[++folderCount] = $2
    for (i = 4; i <= NF; i++) { split($i, part, ":"); only[$2, part[1]] = part[2] == "" ? "all" : part[2] }
}
$1 == "rule" { endPattern(); rule = value; exempt = "" }
$1 == "in" { where = value }
$1 == "not" {
    exempt = value
    count = split(value, exempted, " ")
}
$1 == "code" { endPattern(); pattern = value }
$1 == "plant" {
    planted = 1
    plantEverywhere(value, rule)
    if (exempt ~ /\.swift/) exemptFiles[rule] = exempt
    firstPlant[rule] = value
}
$1 == "fine" { plantEverywhere(value, "-") }

END {
    endPattern()
    # A file that a rule exempts by its name.
    for (rule in exemptFiles) {
        count = split(exemptFiles[rule], exempted, " ")
        for (i = 1; i <= count; i++)
            print "words\t" prefix(exempted[i]) exempted[i] "\t-\t" firstPlant[rule]
    }
    # Every folder declares a type, and every other folder uses it.
    for (i = 1; i <= folderCount; i++) {
        print "uses\t" prefix(folders[i]) folders[i] "/Type.swift\t-\tstruct " typeName(folders[i]) " {}"
        for (j = 1; j <= folderCount; j++) {
            if (i == j) continue
            allowed = only[folders[i], folders[j]]
            use(folders[i], folders[j], typeName(folders[j]), allowed == "all" ? "-" : "layers")
            if (allowed == "" || allowed == "all") continue
            count = split(allowed, types, ",")
            for (k = 1; k <= count; k++) {
                use(folders[i], folders[j], types[k], "-")
                named[folders[j] "/" types[k]] = folders[j] "\t" types[k]
            }
        }
    }
    for (key in named) {
        split(named[key], part, "\t")
        print "uses\t" prefix(part[1]) key ".swift\t-\tstruct " part[2] " {}"
    }
    exit failed
}
