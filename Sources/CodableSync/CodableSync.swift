/// One import is enough for an app: the coding of records comes with the engine.
@_exported import RecordCoding
