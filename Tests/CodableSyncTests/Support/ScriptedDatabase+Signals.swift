@testable import CodableSync

extension ScriptedDatabase: SignalTelling {
    private var telling: (any SignalTelling)? { base as? any SignalTelling }

    var areSignalsTaken: Bool { telling?.areSignalsTaken ?? true }

    func waitUntilSignalsAreTaken() async { await telling?.waitUntilSignalsAreTaken() }
}
