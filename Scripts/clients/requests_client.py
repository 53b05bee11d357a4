"""Sends requests to a record server's public database with requests-cloudkit, and checks each answer.

usage: requests_client.py URL KEY-ID KEY-FILE OTHER-KEY-FILE

Prints each wrong answer to standard error, and how many were right. Exit codes: 0 all were right, 1 one was not.
"""

import base64
import hashlib
import io
import sys
from types import SimpleNamespace

import requests
import requests_cloudkit.cloudkit as package

CONTAINER = "/database/1/iCloud.local/development/"
TITLE = "Café"


def as_bytes(text):
    return text.encode() if isinstance(text, str) else text


class Buffer(io.BytesIO):
    def write(self, text):
        return super().write(as_bytes(text))


# requests-cloudkit 1.0.1 was written for Python 2, whose text is bytes: with Python 3 it ends with a TypeError before
# anything is sent. Its own code signs here; these only turn text into bytes and back at its edges.
package.hashlib = SimpleNamespace(sha256=lambda data=b"": hashlib.sha256(as_bytes(data)))
package.base64 = SimpleNamespace(b64encode=lambda data: base64.b64encode(data).decode())
package.tempfile = SimpleNamespace(NamedTemporaryFile=Buffer)


def find(json, *path):
    """Returns a member of a member and so on; None where there is none."""
    for key in path:
        try:
            json = json[key]
        except (KeyError, IndexError, TypeError):
            return None
    return json


class Checks:
    def __init__(self):
        self.right = 0
        self.wrong = 0

    def equal(self, what, found, expected):
        if found == expected:
            self.right += 1
        else:
            self.wrong += 1
            print(f"requests-cloudkit: {what}: expected {expected!r}, found {found!r}", file=sys.stderr)


def main(url, key_id, key_file, other_key_file):
    checks = Checks()
    good = package.CloudKitAuth(key_id, key_file)

    def send(operation, text=None, auth=good, database="public", query=None):
        """Returns the status and the JSON of an answer."""
        address = url + CONTAINER + database + "/" + operation
        with requests.Session() as session:
            # Neither a proxy nor a password file of this computer.
            session.trust_env = False
            method = "GET" if text is None else "POST"
            answer = session.request(method, address, params=query, data=text, auth=auth, timeout=30)
        kind = answer.headers.get("Content-Type")
        checks.equal(f"the type of {operation}", kind, "application/json; charset=UTF-8")
        return answer.status_code, answer.json()

    def modify(kind, members):
        """Returns the only record of an answer."""
        body = '{"operations":[{"operationType":"%s","record":{"recordName":"news",%s}}]}' % (kind, members)
        status, answer = send("records/modify", body)
        checks.equal(f"the status of {kind}", status, 200)
        return find(answer, "records", 0)

    def look_up(**options):
        return send("records/lookup", '{"records":[{"recordName":"news"}]}', **options)

    status, answer = send("zones/list")
    zone = find(answer, "zones", 0, "zoneID", "zoneName")
    checks.equal("zones/list", (status, zone), (200, "_defaultZone"))
    caller = send("users/caller", "{}")
    checks.equal("users/caller", caller, (200, {"users": [{"userRecordName": "_developer"}]}))

    fields = '"recordType":"News","fields":{"title":{"value":"%s"},"stars":{"value":3}}' % TITLE
    made = modify("create", fields)
    checks.equal("a field of a created record", find(made, "fields", "title", "value"), TITLE)
    checks.equal("creating it once more", find(modify("create", fields), "serverErrorCode"), "EXISTS")

    # This client signs the path with its query, other ones without.
    for query in (None, {"remapEnums": "true"}, {"a": "b c+/=&ö", "d": ""}):
        status, answer = look_up(query=query)
        checks.equal(f"records/lookup with {query}", (status, find(answer, "records", 0)), (200, made))

    tag = find(made, "recordChangeTag")
    change = '"recordChangeTag":"%s","fields":{"stars":{"value":4}}' % tag
    changed = modify("update", change)
    checks.equal("an updated field", find(changed, "fields", "stars", "value"), 4)
    checks.equal("a field that an update leaves", find(changed, "fields", "title", "value"), TITLE)
    checks.equal("an update with an old tag", find(modify("update", change), "serverErrorCode"), "CONFLICT")

    def check_refusal(what, answer, status, code):
        checks.equal(what, (answer[0], find(answer[1], "serverErrorCode")), (status, code))
        checks.equal(f"the reason for {what}", bool(find(answer[1], "reason")), True)

    # The server has no queries, and says so.
    answer = send("records/query", '{"query":{"recordType":"News"}}')
    check_refusal("records/query", answer, 400, "BAD_REQUEST")
    wrong = package.CloudKitAuth(key_id, other_key_file)
    check_refusal("a wrong key", look_up(auth=wrong), 401, "AUTHENTICATION_FAILED")
    unknown = package.CloudKitAuth("unknown", key_file)
    check_refusal("an unknown key", look_up(auth=unknown), 401, "AUTHENTICATION_FAILED")
    check_refusal("the private database", look_up(database="private"), 403, "ACCESS_DENIED")

    deleted = modify("delete", '"recordChangeTag":"%s"' % find(changed, "recordChangeTag"))
    checks.equal("a deletion", deleted, {"recordName": "news", "deleted": True})
    status, answer = look_up()
    code = find(answer, "records", 0, "serverErrorCode")
    checks.equal("a deleted record", (status, code), (200, "NOT_FOUND"))

    print(f"requests-cloudkit: {checks.right} checks passed, {checks.wrong} failed")
    return 1 if checks.wrong or not checks.right else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
