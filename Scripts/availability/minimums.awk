# What both checks share: the minimum versions of Package.swift, and the order of versions.

function readMinimums(line,    platform, version) {
    while (match(line, /[.](iOS|macOS|tvOS|watchOS|visionOS|macCatalyst)[(]([.]v[0-9_]+|"[0-9.]+")[)]/)) {
        platform = version = substr(line, RSTART + 1, RLENGTH - 2)
        sub(/[(].*/, "", platform)
        sub(/.*[(]([.]v|")/, "", version)
        sub(/"$/, "", version)
        gsub(/_/, ".", version)
        minimum[platform] = version
        line = substr(line, RSTART + RLENGTH)
    }
    # The package manager takes iOS' version unless there is one.
    if (("iOS" in minimum) && !("macCatalyst" in minimum)) minimum["macCatalyst"] = minimum["iOS"]
}

function isLater(version, other,    a, b, n, i) {
    n = split(version, a, ".")
    if (split(other, b, ".") > n) n = split(other, b, ".")
    for (i = 1; i <= n; i++) if (a[i] + 0 != b[i] + 0) return a[i] + 0 > b[i] + 0
    return 0
}
