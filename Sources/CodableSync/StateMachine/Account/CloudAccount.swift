/// The account's status and, if available, its user.
package struct CloudAccount: Equatable, Sendable {
    package var status: AccountStatus
    package var userRecordName: String?

    package init(status: AccountStatus, userRecordName: String?) {
        self.status = status
        self.userRecordName = userRecordName
    }
}
