package io.penstock.lab.bench.replay;

import io.penstock.PenstockVersion;
import io.penstock.lab.bench.side.Bench;
import io.penstock.lab.bench.side.Turns;
import io.penstock.node.party.FlowPlan;
import io.penstock.node.text.Plural;
import io.penstock.node.text.Sizes;
import io.penstock.node.text.TextTable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/// What `bench replay` found: medians of the rounds.
///
/// @param penstock version
/// @param blockBytes bytes of a block
/// @param layers of a block
/// @param sliceBytes most bytes of a slice
/// @param concurrency requests under way at a time
/// @param requests of each turn
/// @param warmUpSeconds before the first round
/// @param rounds in which replay and parts took turns
/// @param readBytes that each replay delivers and compares
/// @param putBytes that each replay makes and puts
/// @param whole the replay
/// @param parts each for itself
/// @param partsCpuSecondsPerGigabyte of all parts together, for each 10⁹ bytes that the replay delivers
/// @param ratio of the replay's CPU time to that of its parts, in the same round
record ReplayBenchReport(String penstock, int blockBytes, int layers, int sliceBytes, int concurrency, int requests,
    double warmUpSeconds, int rounds, long readBytes, long putBytes, Part whole, List<Part> parts,
    double partsCpuSecondsPerGigabyte, double ratio) implements Bench.Report {
  /// Cost of one turn of one of them.
  record Cost(long cpuNanos, long nanos) {}

  /// The turns of one round.
  record Round(Cost whole, Cost put, Cost get, Cost make, Cost compare) {
    long partsCpuNanos() {
      return put.cpuNanos + get.cpuNanos + make.cpuNanos + compare.cpuNanos;
    }
  }

  /// @param bytes of a turn
  /// @param gigabytesPerSecond 10⁹ of its own bytes a second
  /// @param cpuSecondsPerGigabyte for each 10⁹ of its own bytes
  /// @param cpuSecondsPerGigabyteDelivered for each 10⁹ bytes that the replay delivers
  record Part(String name, long bytes, double gigabytesPerSecond, double cpuSecondsPerGigabyte,
      double cpuSecondsPerGigabyteDelivered) {
    static Part of(String name, long bytes, long delivered, List<Round> rounds, Function<Round, Cost> of) {
      double cpu = median(rounds, round -> of.apply(round).cpuNanos);
      return new Part(name, bytes, bytes / median(rounds, round -> of.apply(round).nanos), cpu / bytes,
          cpu / delivered);
    }
  }

  static ReplayBenchReport of(FlowPlan plan, int requests, Duration warmUp, long readBytes, long madeBytes,
      List<Round> rounds) {
    List<Part> parts = List.of(Part.of("put", madeBytes, readBytes, rounds, Round::put),
        Part.of("get", readBytes, readBytes, rounds, Round::get),
        Part.of("bytes made", madeBytes, readBytes, rounds, Round::make),
        Part.of("bytes compared", readBytes, readBytes, rounds, Round::compare));
    return new ReplayBenchReport(PenstockVersion.current(), plan.space().layout().blockBytes(),
        plan.space().layout().layers(), plan.sliceBytes(), plan.concurrency(), requests, warmUp.toNanos() / 1e9,
        rounds.size(), readBytes, madeBytes, Part.of("replay", readBytes, readBytes, rounds, Round::whole), parts,
        median(rounds, Round::partsCpuNanos) / readBytes,
        median(rounds, round -> (double) round.whole().cpuNanos / round.partsCpuNanos()));
  }

  private static double median(List<Round> rounds, ToDoubleFunction<Round> of) {
    return Turns.median(rounds.stream().mapToDouble(of).toArray());
  }

  /// Table for people.
  @Override
  public String table() {
    TextTable table = new TextTable("", "BYTES", "GB/S", "CPU s/GB", "CPU s/GB DELIVERED");
    List<Part> rows = new ArrayList<>(parts);
    rows.add(whole);
    rows.forEach(part -> table.row(part.name(), Sizes.human(part.bytes()), number(part.gigabytesPerSecond()),
        number(part.cpuSecondsPerGigabyte()), number(part.cpuSecondsPerGigabyteDelivered())));
    return table + String.format(Locale.ROOT,
        "%nthe replay takes %.2f times the CPU time of its parts, %.2f s/GB%n"
            + "blocks of %s over %s, slices of at most %s, %s under way; %s a turn%n"
            + "medians of %s by turns, after a warm-up of %.1f s%n",
        ratio, partsCpuSecondsPerGigabyte, Sizes.human(blockBytes), Plural.of(layers, "layer"),
        Sizes.human(sliceBytes), Plural.of(concurrency, "request"), Plural.of(requests, "request"),
        Plural.of(rounds, "round"), warmUpSeconds);
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.2f", value);
  }
}
