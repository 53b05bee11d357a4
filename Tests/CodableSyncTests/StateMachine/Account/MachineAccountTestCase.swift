import RecordCoding
import XCTest

@testable import CodableSync

/// Account answers, and states that belong to a user.
class MachineAccountTestCase: MachineTestCase {
    func answer(_ status: AccountStatus, _ user: String? = nil) -> [SyncAction] {
        guard let request = machine.setupRequest else { return [] }
        return machine.run(
            .response(request, .success(.account(.init(status: status, userRecordName: user))))
        )
    }

    func state(of user: String, _ entries: StateChange...) -> SyncState {
        var state = SyncState()
        for entry in [.claimed(by: user)] + entries { state.apply(entry) }
        return state
    }

    func purged(_ change: (inout MachineConfiguration) -> Void = { _ in }) -> MachineHarness {
        var machine = MachineHarness.synced(change)
        machine.know("A", 1)
        machine.upload("B", 2)
        machine.failSend(CloudError(.zoneNotFound))
        if let request = machine.setupRequest {
            machine.run(.response(request, .success(.databaseChanges(ZoneFate(reason: .purged, token: nil)))))
        }
        return machine
    }
}
