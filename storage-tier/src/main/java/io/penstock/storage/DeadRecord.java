package io.penstock.storage;

import io.penstock.storage.record.RecordName;

/// A record that nobody needs any more, and that lies in its segment until that goes.
///
/// @param name its own
/// @param segment where it lies
record DeadRecord(RecordName name, int segment) {}
