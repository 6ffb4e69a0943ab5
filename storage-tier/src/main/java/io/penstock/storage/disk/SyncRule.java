package io.penstock.storage.disk;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import io.penstock.tier.Receipt.Durability;
import java.time.Duration;

/// Time at which appended bytes are forced to the medium.
///
/// | | receipts | a failure of the machine may lose |
/// |---|---|---|
/// | `none` | written | anything |
/// | `interval` | written | bytes younger than `interval`, and than a sync that still runs; `bytes` at most |
/// | `always` | forced | nothing that was acknowledged |
///
/// All this as long as no sync fails. A failure of the machine may lose the bytes of a failed sync, and
/// [SyncStat#lostBytes()] counts them: a system reports a write error once, so a later sync that succeeds proves
/// nothing about them. The rule holds again for bytes appended later.
///
/// @param interval age at which unsynced bytes are synced; only for `INTERVAL`
/// @param bytes maximum unsynced bytes: a sync begins at half of them, and appending waits for it at all of them; only
///     for `INTERVAL`
public record SyncRule(SyncMode mode, Duration interval, long bytes) {
  /// As in [#defaults()].
  public static final Duration DEFAULT_INTERVAL = Duration.ofSeconds(1);

  /// As in [#defaults()].
  public static final long DEFAULT_BYTES = 256L << 20;

  public SyncRule {
    requireNonNull(mode, "mode");
    Checks.atLeastOneMilli("interval", interval);
    Checks.positive("bytes", bytes);
  }

  /// At most 1 s and 256 MiB unsynced.
  public static SyncRule defaults() {
    return new SyncRule(SyncMode.INTERVAL, DEFAULT_INTERVAL, DEFAULT_BYTES);
  }

  public static SyncRule none() {
    return defaults().withMode(SyncMode.NONE);
  }

  public static SyncRule interval(Duration interval, long bytes) {
    return new SyncRule(SyncMode.INTERVAL, interval, bytes);
  }

  public static SyncRule always() {
    return defaults().withMode(SyncMode.ALWAYS);
  }

  public SyncRule withMode(SyncMode mode) {
    return new SyncRule(mode, interval, bytes);
  }

  public SyncRule withBytes(long bytes) {
    return new SyncRule(mode, interval, bytes);
  }

  /// Promise of a receipt.
  public Durability receipt() {
    return mode == SyncMode.ALWAYS ? Durability.FORCED : Durability.WRITTEN;
  }
}
