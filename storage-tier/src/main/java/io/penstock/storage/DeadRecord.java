package io.penstock.storage;

import static java.util.Objects.requireNonNull;

import io.penstock.storage.record.RecordName;
import org.jspecify.annotations.Nullable;

/// A record that does not count any more, and that lies in its segment until that goes.
///
/// @param name its own; null if it is unknown, as the disk does not give it: then nothing keeps the record dead
///     after a restart
/// @param segment where it lies
record DeadRecord(@Nullable RecordName name, int segment) {
  /// The name of one that has it.
  RecordName named() {
    return requireNonNull(name, "name");
  }
}
