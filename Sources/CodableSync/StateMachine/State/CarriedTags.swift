/// The change tags that an app's models may still carry although the cloud has a later version, and what each means
/// now.
///
/// This device's own saves replace the tag, but not what the app has: such a tag means the version that replaced it.
package struct CarriedTags: Equatable, Sendable {
    package struct Tag: Equatable, Sendable {
        package var tag: String
        /// The version that a model with the tag was made from; `nil` for the latest one that this app can read.
        package var version: ContentHandle?

        package init(_ tag: String, _ version: ContentHandle? = nil) {
            self.tag = tag
            self.version = version
        }
    }

    package var tags: [Tag] = []
    /// The other device's version under this device's later saves, while a tag means one from before it.
    package var ownBase: ContentHandle?
    /// The version that the latest one has replaced, if that may be this device's own save, whose answer was lost.
    package var doubt: ContentHandle?

    /// How many tags of own saves are kept for each of the latest version and the one before it.
    private static var maximum: Int { 8 }

    package init(_ tags: [Tag] = [], ownBase: ContentHandle? = nil, doubt: ContentHandle? = nil) {
        self.tags = tags
        self.ownBase = ownBase
        self.doubt = doubt
    }

    /// The tags of the latest version only, as for one that was lost with its zone.
    var ofLatest: CarriedTags { CarriedTags(tags.filter { $0.version == nil }) }

    var named: [ContentHandle] { (tags.map(\.version) + [ownBase, doubt]).compactMap { $0 } }

    /// Notes that a later version has replaced the latest one.
    ///
    /// - Parameters:
    ///   - former: The version that was replaced.
    ///   - isOwn: Whether this device saved the later one, or it has equal contents; `nil` if it may have.
    mutating func replace(_ former: KnownVersion, isOwn: Bool?) {
        settle(isOwn: false)
        var current = ofLatest.tags
        if !former.changeTag.isEmpty { current.append(Tag(former.changeTag)) }
        // A screen that saves again and again holds the first one.
        if current.count > Self.maximum { current.remove(at: 1) }
        tags.removeAll { $0.version == nil }
        switch isOwn {
        case true?:
            if !tags.isEmpty { ownBase = ownBase ?? former.handle }
            tags += current
        case false?: self = CarriedTags(current.map { Tag($0.tag, former.handle) })
        case nil:
            tags += current.map { Tag($0.tag, former.handle) }
            doubt = former.handle
        }
    }

    /// Ends the doubt whether the latest version is this device's own save.
    mutating func settle(isOwn: Bool) {
        guard let base = doubt else { return }
        doubt = nil
        if !isOwn { return self = CarriedTags(tags.filter { $0.version == base }) }
        point(base, to: nil)
        if tags.contains(where: { $0.version != nil }) { ownBase = ownBase ?? base }
    }

    /// Notes that models made from a version now have the contents of a later one; `nil` means the latest.
    mutating func point(_ version: ContentHandle, to later: ContentHandle?) {
        for index in tags.indices where tags[index].version == version { tags[index].version = later }
    }

    mutating func keep(_ isStored: (ContentHandle) -> Bool) {
        tags.removeAll { !($0.version.map(isStored) ?? true) }
        if let base = ownBase ?? doubt, !isStored(base) { self = ofLatest }
    }
}

extension RecordState {
    /// Replaces the known version by a later one.
    ///
    /// - Parameters:
    ///   - version: The later version.
    ///   - isOwn: Whether this device saved it, or it has equal contents; `nil` if it may have.
    ///   - keepsTags: Whether the type's models carry the change tag of their version.
    mutating func replaceKnown(by version: KnownVersion, isOwn: Bool?, keepsTags: Bool) {
        if let former = readable, keepsTags {
            carried.replace(former, isOwn: isOwn)
        } else {
            carried = CarriedTags()
        }
        server = .known(version)
    }

    /// Replaces the known version by one that this device saved on a base, unless the feed has told it before.
    mutating func confirmKnown(as version: KnownVersion, over base: ContentHandle?, keepsTags: Bool) {
        guard known?.isSameVersion(as: version) == true else {
            return replaceKnown(by: version, isOwn: true, keepsTags: keepsTags)
        }
        server = .known(version)
        carried.settle(isOwn: true)
        if let base { carried.point(base, to: nil) }
    }

    /// The version that a model with a change tag was made from; `nil` if it is not known any more.
    func version(carriedAs tag: String) -> ContentHandle? {
        if let readable, readable.changeTag == tag { return readable.handle }
        guard let former = carried.tags.last(where: { $0.tag == tag }) else { return nil }
        return former.version ?? readable?.handle
    }
}
