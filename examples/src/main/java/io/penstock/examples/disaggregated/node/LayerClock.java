package io.penstock.examples.disaggregated.node;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.examples.disaggregated.node.LayerTime.What;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongSupplier;

/// Records when layers are computed, and when their bytes land. Safe from any thread.
final class LayerClock {
  private final LongSupplier micros;
  @GuardedBy("this") private final List<LayerTime> computed = new ArrayList<>();
  /// Times of the first and the last bytes of each layer.
  @GuardedBy("this") private final Map<Integer, long[]> landed = new TreeMap<>();
  @GuardedBy("this") private long before;
  @GuardedBy("this") private long bytes;

  /// @param micros the time, in microseconds since the epoch
  LayerClock(LongSupplier micros) {
    this.micros = micros;
    this.before = micros.getAsLong();
  }

  /// The next layer begins now.
  synchronized void begin() {
    before = micros.getAsLong();
  }

  synchronized void computed(int layer) {
    long now = micros.getAsLong();
    computed.add(new LayerTime(What.COMPUTE, layer, before, now));
    before = now;
  }

  synchronized void landed(int firstLayer, int layers, long count) {
    long now = micros.getAsLong();
    bytes += count;
    for (int layer = firstLayer; layer < firstLayer + layers; layer++) {
      landed.computeIfAbsent(layer, first -> new long[] {now, now})[1] = now;
    }
  }

  synchronized long landedBytes() {
    return bytes;
  }

  synchronized List<LayerTime> computeTimes() {
    return List.copyOf(computed);
  }

  synchronized List<LayerTime> transferTimes() {
    return landed.entrySet().stream()
        .map(entry -> new LayerTime(What.TRANSFER, entry.getKey(), entry.getValue()[0], entry.getValue()[1])).toList();
  }
}
