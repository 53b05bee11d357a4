import CodableSync
import Foundation
import XCTest

struct Memo: RecordCodable, Identifiable, Hashable {
    var id = UUID()
    var title: String
    var text = ""

    /// Keeps both texts if both sides have changed it.
    static func resolveConflict(_ conflict: Conflict<Memo>) throws -> Memo? {
        var memo = try conflict.merged()
        let (mine, theirs, before) = (conflict.client.text, conflict.server.text, conflict.ancestor?.text)
        if mine != theirs, mine != before, theirs != before {
            memo.text = [mine, theirs].sorted().joined(separator: "\n")
        }
        return memo
    }
}

/// A sheet with a draft.
private struct MemoSheet {
    let original: Memo
    var draft: Memo

    init(_ memo: Memo) {
        original = memo
        draft = memo
    }
}

/// A notes app: a list, a sheet with a draft, and undo.
@MainActor
private final class NotesApp {
    let memos: LiveModels<Memo>
    private(set) var alert: String?
    private(set) var log: [String] = []
    private(set) var lastSave: (before: Memo, after: Memo)?

    init(_ engine: SyncEngine<Memo>) {
        memos = LiveModels(engine)
    }

    func save(_ sheet: MemoSheet) async {
        do {
            try await memos.engine.upload(sheet.draft, editedFrom: sheet.original)
            lastSave = (sheet.original, sheet.draft)
        } catch {
            alert = error.localizedDescription
            log.append("\(error)")
        }
    }

    func undo() async {
        guard let (before, after) = lastSave else { return }
        var sheet = MemoSheet(after)
        sheet.draft = before
        await save(sheet)
    }

    func dismissAlert() { alert = nil }
}

/// The facts of a notes app, with a switch of users in the middle.
final class NotesAppTests: PortedAppTestCase {
    func testADraftSavedRightAfterAnEditInPlaceIsKept() async throws {
        let app = NotesApp(engine(Memo.self, on: cloud.database()))
        let memo = Memo(title: "Tea")
        app.memos.add(memo)
        var sheet = MemoSheet(memo)
        sheet.draft.text = "hot"
        app.memos.edit(memo) { $0.text = "cold" }
        await app.save(sheet)
        try await app.memos.engine.sync()
        XCTAssertEqual(try models(Memo.self, of: Self.alice).map(\.text), ["hot"], "the last call wins")
        XCTAssertNil(app.alert)
    }

    func testUndoRightAfterAnEditInPlaceRevertsTheSave() async throws {
        let app = NotesApp(engine(Memo.self, on: cloud.database()))
        let memo = Memo(title: "Tea")
        app.memos.add(memo)
        var sheet = MemoSheet(memo)
        sheet.draft.text = "hot"
        await app.save(sheet)
        app.memos.edit(memo) { $0.title = "Green tea" }
        await app.undo()
        try await app.memos.engine.sync()
        XCTAssertEqual(
            try models(Memo.self, of: Self.alice),
            [Memo(id: memo.id, title: "Green tea", text: "")]
        )
    }

    func testTextsOfTwoDevicesAreBothKept() async throws {
        let (phone, tablet) = (
            NotesApp(engine(Memo.self, on: cloud.database())),
            NotesApp(engine(Memo.self, on: cloud.database()))
        )
        let memo = Memo(title: "Tea")
        phone.memos.add(memo)
        try await phone.memos.engine.sync()
        try await tablet.memos.engine.sync()
        for (app, text) in [(phone, "hot"), (tablet, "cold")] {
            var sheet = MemoSheet(memo)
            sheet.draft.text = text
            await app.save(sheet)
        }
        for app in [phone, tablet, phone] { try await app.memos.engine.sync() }
        XCTAssertEqual(try models(Memo.self, of: Self.alice).map(\.text), ["cold\nhot"])
        await wait { phone.memos.models[memo.recordName]?.text == "cold\nhot" }
        await wait { tablet.memos.models[memo.recordName]?.text == "cold\nhot" }
    }

    func testASheetOfTheFormerUserSavesNothingForTheNextOne() async throws {
        let network = cloud.database()
        let app = NotesApp(engine(Memo.self, on: network))
        let memo = Memo(title: "Alice's diary")
        app.memos.add(memo)
        try await app.memos.engine.sync()
        var sheet = MemoSheet(memo)
        sheet.draft.text = "Alice's secret"

        network.signIn(user: Self.bob)
        try await app.memos.engine.sync()
        await app.save(sheet)
        try await app.memos.engine.sync()
        XCTAssertEqual(try models(Memo.self, of: Self.bob), [])
        let alert = try XCTUnwrap(app.alert)
        XCTAssertFalse(alert.contains(memo.recordName), "a sentence for the user: \(alert)")
        XCTAssertTrue(app.log[0].contains(memo.recordName), "a text for the developer: \(app.log[0])")

        app.dismissAlert()
        network.signIn(user: Self.alice)
        try await app.memos.engine.sync()
        await app.save(sheet)
        try await app.memos.engine.sync()
        XCTAssertEqual(try models(Memo.self, of: Self.alice), [sheet.draft])
        XCTAssertNil(app.alert)
    }

    func testUndoOfTheFormerUsersSaveChangesNothingForTheNextOne() async throws {
        let network = cloud.database()
        let app = NotesApp(engine(Memo.self, on: network))
        let memo = Memo(title: "Alice's diary")
        app.memos.add(memo)
        var sheet = MemoSheet(memo)
        sheet.draft.text = "Alice's secret"
        await app.save(sheet)
        try await app.memos.engine.sync()

        network.signIn(user: Self.bob)
        try await app.memos.engine.sync()
        await app.undo()
        try await app.memos.engine.sync()
        XCTAssertEqual(try models(Memo.self, of: Self.bob), [])
        XCTAssertNotNil(app.alert)
    }
}
