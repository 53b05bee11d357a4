import XCTest

@testable import CodableSync

/// A device sends to a restored cloud before it fetches.
final class RestoredCloudSaveTests: RestoredCloudScenario {
    /// The phone's next request after the restore creates a record, or saves one that the backup has; its tag is one of
    /// the present history.
    func testASaveAfterTheRestoreHidesNoneFromBefore() async throws {
        for manner in RestorableCloud.Manner.allCases {
            for isCreation in [true, false] {
                for isRestarted in [false, true] {
                    try setUpWithError()
                    var phone: Device<Note> = try makeDevice { $0.automaticallySyncs = false }
                    let tablet: Device<Note> = try makeDevice()
                    try await phone.engine.upload(Note("old"))
                    try await settle(phone, tablet)
                    let backup = cloud.backup
                    for name in ["lost1", "lost2"] {
                        try await phone.engine.upload(Note(name))
                        try await phone.engine.sendChanges()
                    }
                    try cloud.restore(backup, manner)
                    pass()
                    try await phone.engine.upload(isCreation ? Note("new") : Note("old", "changed"))
                    try await phone.engine.sendChanges()
                    if isRestarted { phone = try await newProcess(of: phone) }
                    try await settle(phone, tablet)
                    let names = try await tablet.engine.allModels().map(\.id)
                    let row = "\(manner), creation: \(isCreation), restarted: \(isRestarted)"
                    XCTAssertEqual(names, ["lost1", "lost2"] + (isCreation ? ["new"] : []) + ["old"], row)
                    try await assertEqualEverywhere(phone, tablet)
                }
            }
        }
    }
}
