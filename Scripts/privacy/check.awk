# Compares what the code of one target uses with its privacy manifest.
# Input: apis.txt, then the manifest (or nothing), then the target's code from layers/strip.awk; -v target, -v manifest.

BEGIN { FS = "\t" }

FILENAME == list {
    if (/^#/ || /^$/) next
    if ($1 == "reasons") { reasons[$2] = " " $3 " "; next }
    count++
    category[count] = $1
    pattern[count] = "(^|[^A-Za-z0-9_])(" $2 ")([^A-Za-z0-9_]|$)"
    # An interface that ends with a parenthesis is followed by anything.
    if ($2 ~ /\\\($/) pattern[count] = "(^|[^A-Za-z0-9_])(" $2 ")"
    next
}

FILENAME == manifest {
    text = text " " $0
    next
}

{
    for (i = 1; i <= count; i++) {
        if ($3 !~ pattern[i]) continue
        used[category[i]] = 1
        if (!place[category[i]]) place[category[i]] = $1 ":" $2
    }
}

# The categories of the manifest with their reasons: what stands between one category and the next.
function readManifest(    parts, number, i, name, reason, all) {
    number = split(text, parts, "NSPrivacyAccessedAPICategory")
    for (i = 2; i <= number; i++) {
        name = parts[i]
        sub(/<.*/, "", name)
        declared[name] = 1
        all = ""
        while (match(parts[i], /<string>[^<]*<\/string>/)) {
            reason = substr(parts[i], RSTART + 8, RLENGTH - 17)
            parts[i] = substr(parts[i], RSTART + RLENGTH)
            if (!(name in reasons) || index(reasons[name], " " reason " ") == 0)
                report(manifest ":1", "\"" reason "\" is no reason for " name)
            all = all reason
        }
        if (all == "") report(manifest ":1", name " has no reason")
    }
}

function report(where, what) {
    print where ": privacy: " what
    failed = 1
}

END {
    readManifest()
    for (name in used)
        if (!(name in declared))
            report(place[name], "this needs a reason in Sources/" target "/PrivacyInfo.xcprivacy, category " name)
    for (name in declared)
        if (!(name in used)) report(manifest ":1", "the code uses nothing of the category " name)
    exit failed
}
