package io.penstock.wire.transfer;

import static java.util.Objects.requireNonNull;

import io.penstock.meter.TransferMeters;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/// Shows the work of a [TransferEngine] by meters.
public final class MeteredTransfers implements TransferListener {
  private static final String SHARED_MEMORY = "shared-memory";
  private static final String INLINE = "inline";

  private final TransferMeters meters;

  /// @param meters made with [#reasons()]
  public MeteredTransfers(TransferMeters meters) {
    this.meters = requireNonNull(meters, "meters");
  }

  /// Words for the ways in which items fail.
  public static List<String> reasons() {
    return Arrays.stream(TransferFailure.values()).map(MeteredTransfers::word).toList();
  }

  /// Shows what `engine` has under way.
  public void show(TransferEngine engine) {
    meters.show(() -> engine.stat().items(), () -> engine.stat().bytes(), () -> engine.stat().queued());
  }

  @Override
  public void ended(ItemReport item) {
    Times times = item.times();
    TransferFailure failure = item.failure();
    meters.ended(item.transport().isEmpty() ? "none" : item.transport(), word(item.direction()),
        new TransferMeters.Times(times.connect(), times.queue(), times.transfer()),
        failure == null ? null : word(failure));
  }

  @Override
  public void carried(String peer, String transport, TransferBatch.Direction direction, long bytes, long sharedBytes) {
    meters.carried(transport, word(direction), SHARED_MEMORY, sharedBytes);
    meters.carried(transport, word(direction), INLINE, bytes - sharedBytes);
  }

  @Override
  public void connected(String peer, String transport, long nanos) {
    meters.connected(transport, nanos);
  }

  @Override
  public void unreachable(String peer, Throwable cause) {
    meters.unreachable();
  }

  @Override
  public void disconnected(String peer, String transport, Cause why) {
    meters.disconnected(transport, word(why));
  }

  @Override
  public void retried(String peer, Throwable cause) {
    meters.retried();
  }

  private static String word(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
