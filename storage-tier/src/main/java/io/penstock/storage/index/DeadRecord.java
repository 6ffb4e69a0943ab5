package io.penstock.storage.index;

import static java.util.Objects.requireNonNull;

import io.penstock.storage.record.RecordName;
import org.jspecify.annotations.Nullable;

/// A dead record. It lies in its segment until that is deleted.
///
/// @param name of the record; null if the disk does not give it: then no removal can name the record, and a restart
///     finds it again
/// @param segment of the record
public record DeadRecord(@Nullable RecordName name, int segment) {
  /// The name, which is known.
  public RecordName named() {
    return requireNonNull(name, "name");
  }
}
