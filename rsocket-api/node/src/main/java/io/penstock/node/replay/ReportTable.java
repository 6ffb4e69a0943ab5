package io.penstock.node.replay;

import io.penstock.node.config.Sizes;
import java.util.Locale;
import java.util.Map;

/// A [ReplayReport] for a person.
final class ReportTable {
  private final StringBuilder text = new StringBuilder();

  private ReportTable() {}

  static String of(ReplayReport report) {
    ReportTable table = new ReportTable();
    table.setting(report);
    table.outcome(report);
    table.flow(report);
    return table.text.toString();
  }

  private void setting(ReplayReport r) {
    row("trace", r.trace());
    row("parties", r.parties());
    row("blocks", form("%s over %d layers", Sizes.exact(r.blockBytes()), r.layers()));
    row("capacity", both(joined(r.capacities(), "%s %s"), ", ", r.policy()));
    text.append('\n');
  }

  private void outcome(ReplayReport r) {
    row("requests", form("%,d", r.requests()));
    row("block references", form("%,d", r.blockRefs()));
    row("hits", form("%,d  (%s)", r.hits(), both(form("%.2f %%; %,d in a prefix", 100 * r.hitRate(), r.prefixHits()), "; ", joined(r.hitsByTier(), "%s %,d"))));
    r.fillByTier().forEach((name, fill) -> row("fill of " + name, fill(fill)));
    row("delivered", form("%s  (%,d bytes)", Sizes.human(r.bytesDelivered()), r.bytesDelivered()));
    row("verified", r.bytesVerified() == r.bytesDelivered() ? "every byte, made anew and compared"
        : form("ONLY %,d bytes", r.bytesVerified()));
    Long loopbackBytes = r.loopbackBytes();
    if (loopbackBytes != null) {
      row("loopback", form("%s  (%,d bytes by the kernel's count)", Sizes.human(loopbackBytes), loopbackBytes));
    }
    row("corrupt blocks", form("%,d", r.corruptBlocks()));
    row("leaked blocks", form("%,d", r.leakedBlocks()));
    if (r.repeatedPasses() > 0) {
      row("asked again", form("%,d times", r.repeatedPasses()));
    }
    text.append('\n');
  }

  private void flow(ReplayReport r) {
    row("in flight", form("at most %s of a budget of %s", Sizes.human(r.peakInFlightBytes()), Sizes.human(r.budgetBytes())));
    row("time", form("%.2f s, %d at a time", r.elapsedSeconds(), r.concurrency()));
    row("rate", form("%.3f GB/s delivered and verified", r.gigabytesPerSecond()));
    row("first slice", form("p50 %,d µs, p90 %,d µs, p99 %,d µs", r.firstLayerMicros().p50(), r.firstLayerMicros().p90(), r.firstLayerMicros().p99()));
    row("first layer", latency(r.firstLayerMillis()));
    row("last layer", latency(r.lastLayerMillis()));
    r.ceilings().forEach((name, rate) -> row("ceiling", form("%.2f GB/s %s", rate, name)));
  }

  private static String fill(TierFill fill) {
    Long capacity = fill.capacityBlocks();
    return capacity == null ? form("%,d blocks", fill.blocks())
        : form("%,d of %,d blocks  (%.1f %%)", fill.blocks(), capacity, 100.0 * fill.blocks() / Math.max(1, capacity));
  }

  private static String latency(Latency l) {
    return form("p50 %.3f ms, p90 %.3f ms, p99 %.3f ms, p99.9 %.3f ms, max %.3f ms", l.p50(), l.p90(), l.p99(), l.p999(), l.max());
  }

  private static String joined(Map<String, ?> entries, String form) {
    return String.join(", ", entries.entrySet().stream().map(e -> form(form, e.getKey(), e.getValue())).toList());
  }

  private static String both(String first, String between, String second) {
    return first.isEmpty() || second.isEmpty() ? first + second : first + between + second;
  }

  private static String form(String form, Object... values) {
    return String.format(Locale.ROOT, form, values);
  }

  private void row(String name, String value) {
    text.append(form("  %-17s %s\n", name, value));
  }
}
