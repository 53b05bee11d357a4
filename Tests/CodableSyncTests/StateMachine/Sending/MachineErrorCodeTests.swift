import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// Every code that a server may return: no change is dropped, and no request is repeated without a wait.
final class MachineErrorCodeTests: MachineTestCase {
    private let codes = CloudError.Code.known + [.unknown("tomorrow")]

    /// The expected state of a change after its item failed with a code.
    private enum Place { case waits, parked, lookedUp, conflict, engineWaits }

    private func place(of code: CloudError.Code) -> Place {
        switch CloudError(code).recovery {
        case .retry, .retryThenPark, .continueFetching, .unwrap, .refetch, .resend: .waits
        case .resolveConflict: .lookedUp
        case .acceptDeletion: .conflict
        case .split, .park: .parked
        case .waitForQuota, .waitForAccount, .stop, .recreateZone, .askUser, .uploadEverything: .engineWaits
        }
    }

    func testItemIsKeptAfterAnyCode() {
        for code in codes {
            var machine = machine
            machine.know("A", 1)
            machine.upload("A", 2)
            machine.answerSend { _ in .failed(CloudError(code)) }
            let record = machine.state["A"]
            XCTAssertEqual(record?.pending?.handle, 2, code.name)
            XCTAssertNil(machine.sendRequest, code.name)
            switch place(of: code) {
            case .waits:
                XCTAssertEqual(record?.isSendable, true, code.name)
                XCTAssertEqual(machine.fireNext().requests, ["send A=2@t1"], code.name)
            case .parked: XCTAssertNotNil(record?.pending?.parked, code.name)
            case .lookedUp: XCTAssertEqual(machine.lookUpRequest?.names, ["A"], code.name)
            case .conflict: XCTAssertEqual(machine.conflicts.map(\.server), [nil], code.name)
            case .engineWaits: XCTAssertNil(record?.pending?.parked, code.name)
            }
            XCTAssertEqual(machine.faults, [], code.name)
        }
    }

    func testRequestKeepsItsItemsAfterAnyCode() {
        for code in codes {
            var machine = machine
            machine.know("A", 1)
            machine.upload("A", 2)
            machine.failSend(CloudError(code))
            XCTAssertEqual(machine.state["A"]?.pending?.handle, 2, code.name)
            XCTAssertNil(machine.sendRequest, code.name)
            XCTAssertEqual(machine.faults, [], code.name)
        }
    }

    func testDeletionIsKeptAfterAnyCodeButUnknownItem() {
        for code in codes {
            var machine = machine
            machine.know("A", 1)
            machine.delete("A")
            machine.answerSend { _ in .failed(CloudError(code)) }
            if code == .unknownItem {
                XCTAssertNil(machine.state["A"])
            } else {
                XCTAssertEqual(machine.state["A"]?.pending?.isDeletion, true, code.name)
            }
            XCTAssertNil(machine.sendRequest, code.name)
        }
    }

    /// A request for many items that fails with any code leads to parked changes or to a wait, not to endless
    /// requests.
    func testLargeRequestNeverLoopsAfterAnyCode() {
        for code in Cases.places(every: 3, below: codes.count).map({ codes[$0] }) {
            var machine = machine
            machine.run(.calls(.stop))
            machine.run(.calls(.enqueue(machine.newCall(), (0..<20).map { .save("N\($0)", $0) })))
            machine.run(.calls(.start))
            machine.answerFetch(token: "0")
            var requests = 0
            while machine.sendRequest != nil, requests < 100 {
                requests += 1
                machine.failSend(CloudError(code))
            }
            XCTAssertLessThanOrEqual(requests, 60, code.name)
            XCTAssertEqual(machine.state.pendingCount, 20, code.name)
        }
    }

    func testFetchWaitsAndContinuesAfterAnyCode() {
        for code in codes {
            var machine = machine
            machine.run(.signal(.changes(in: nil)))
            guard let request = machine.fetchRequest else { return XCTFail("no fetch request") }
            let token = machine.state.onlyZone.token
            let actions = machine.run(.response(request.id, .failure(CloudError(code))))
            switch CloudError(code).recovery {
            case .refetch: XCTAssertEqual(actions.requests, ["fetch -"], code.name)
            case .continueFetching: XCTAssertEqual(actions.requests, ["fetch 0"], code.name)
            case .recreateZone: XCTAssertEqual(actions.requests, ["readDatabaseChanges"], code.name)
            case .uploadEverything: XCTAssertEqual(actions.requests, ["saveZone"], code.name)
            case .askUser, .stop: XCTAssertEqual(actions.requests, [], code.name)
            case .retry, .resolveConflict, .acceptDeletion, .resend, .split, .waitForQuota, .park, .unwrap,
                .retryThenPark:
                XCTAssertEqual(actions.requests, [], code.name)
                XCTAssertEqual(machine.state.onlyZone.token, token, code.name)
                XCTAssertEqual(machine.fireNext().requests, ["fetch 0"], code.name)
            case .waitForAccount:
                XCTAssertEqual(actions.requests, [], code.name)
                XCTAssertEqual(machine.fireNext().requests, ["checkAccount"], code.name)
            }
        }
    }

    /// A look-up that is too large or contains an invalid name must not be repeated unchanged forever.
    func testARejectedLookUpIsHalvedDownToOneName() {
        let names = (0..<8).map { "N\($0)" }
        for (code, isOneToBlame) in [(CloudError.Code.limitExceeded, false), (.invalidArguments, true)] {
            var machine = machine
            for (number, name) in names.enumerated() { machine.know(name, UInt64(number + 1)) }
            machine.upload("N5", 100)
            machine.failSend(CloudError(.networkFailure))
            machine.run(.signal(.changes(in: nil)))
            machine.answerFetch(failed: names, token: "f")
            XCTAssertEqual(machine.lookUpRequest?.names, names)
            var known: Set<String> = []
            var requests = 0
            while let request = machine.lookUpRequest, requests < 40 {
                requests += 1
                let isRefused = isOneToBlame ? request.names.contains("N5") : request.names.count > 2
                if isRefused {
                    machine.run(.response(request.id, .failure(CloudError(code))))
                } else {
                    known.formUnion(request.names)
                    let found = request.names.map { LookedUp(name: $0, result: .success(KnownVersion(50))) }
                    machine.run(.response(request.id, .success(.records(found))))
                }
            }
            XCTAssertEqual(known, Set(names).subtracting(isOneToBlame ? ["N5"] : []), code.name)
            XCTAssertEqual(machine.state["N5"]?.pending?.parked != nil, isOneToBlame, code.name)
            XCTAssertLessThan(requests, 20, code.name)
            XCTAssertEqual(machine.faults, [], code.name)
        }
    }

    func testUnknownCodeParksAfterEightTries() {
        machine.upload("A", 1)
        var tries = 0
        while machine.sendRequest != nil, tries < 20 {
            tries += 1
            machine.answerSend { _ in .failed(CloudError(.unknown("tomorrow"))) }
            machine.fireNext()
        }
        XCTAssertEqual(tries, 8)
        XCTAssertEqual(machine.state["A"]?.pending?.parked?.kind, .unknownError)
    }

    /// I-34: transient errors are not counted.
    func testTransientErrorsNeverPark() {
        machine.upload("A", 1)
        for _ in 0..<40 {
            machine.answerSend { _ in .failed(CloudError(.zoneBusy)) }
            machine.fireNext()
        }
        XCTAssertNotNil(machine.sendRequest)
        XCTAssertNil(machine.state["A"]?.pending?.parked)
    }

    /// I-36: the machine waits as long as the error asks, whatever its code.
    func testRetryAfterIsHonouredWithAnyCode() {
        for code in codes {
            for isWhole in [false, true] {
                var machine = machine
                machine.know("A", 1)
                machine.upload("A", 2)
                let error = CloudError(code, retryAfter: .seconds(100))
                let begin = machine.now.monotonic
                if isWhole { machine.failSend(error) } else { machine.answerSend { _ in .failed(error) } }
                machine.run(.signal(.changes(in: nil)))
                machine.upload("B", 3)
                XCTAssertEqual(Array(machine.open.values), [], "\(code.name) \(isWhole)")
                while machine.open.isEmpty, !machine.isWithoutTimers { machine.fireNext() }
                if !machine.open.isEmpty {
                    XCTAssertGreaterThanOrEqual(
                        machine.now.monotonic - begin,
                        .seconds(100),
                        "\(code.name) \(isWhole)"
                    )
                }
                XCTAssertEqual(machine.faults, [], "\(code.name) \(isWhole)")
            }
        }
    }
}
