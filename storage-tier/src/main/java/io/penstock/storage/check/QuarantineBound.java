package io.penstock.storage.check;

import io.penstock.check.Checks;

/// The bound of a quarantine, copies of earlier runs included. Damage beyond it is counted, and not kept.
///
/// @param bytes most bytes of all copies
/// @param records most copies
public record QuarantineBound(long bytes, int records) {
  public static final long DEFAULT_BYTES = 256L << 20;
  public static final int DEFAULT_RECORDS = 1024;

  public QuarantineBound {
    Checks.notNegative("bytes", bytes);
    Checks.notNegative("records", records);
  }

  /// 256 MiB, and 1,024 records.
  public static QuarantineBound defaults() {
    return new QuarantineBound(DEFAULT_BYTES, DEFAULT_RECORDS);
  }
}
