package io.penstock.examples.disaggregated;

import io.penstock.examples.disaggregated.node.LayerTime;
import io.penstock.examples.disaggregated.node.LayerTime.What;
import java.util.List;
import java.util.Locale;

/// Times of layers over many requests: half of them no longer than p50, 99 of 100 no longer than p99.
final class LayerTimes {
  private LayerTimes() {}

  /// A line for each thing that layers do, in the order of [What].
  static String text(List<RequestReport> requests) {
    StringBuilder text = new StringBuilder();
    for (What what : What.values()) {
      long[] micros = requests.stream().flatMap(request -> request.times().stream()).filter(time -> time.what() == what)
          .mapToLong(time -> time.endMicros() - time.startMicros()).sorted().toArray();
      if (micros.length > 0) {
        text.append(String.format(Locale.ROOT, "  %-13s p50 %.3f ms, p99 %.3f ms a layer%n",
            what.name().toLowerCase(Locale.ROOT), percentile(micros, 50) / 1e3, percentile(micros, 99) / 1e3));
      }
    }
    long[] whole = requests.stream().mapToLong(LayerTimes::micros).sorted().toArray();
    return text + String.format(Locale.ROOT, "  %-13s p50 %.3f ms, p99 %.3f ms, all layers of a request%n", "together",
        percentile(whole, 50) / 1e3, percentile(whole, 99) / 1e3);
  }

  private static long micros(RequestReport request) {
    return request.times().stream().mapToLong(LayerTime::endMicros).max().orElse(0);
  }

  /// @param sorted ascending, not empty
  static long percentile(long[] sorted, int percent) {
    return sorted[Math.max(0, Math.ceilDiv(sorted.length * percent, 100) - 1)];
  }
}
