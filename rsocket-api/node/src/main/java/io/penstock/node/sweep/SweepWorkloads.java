package io.penstock.node.sweep;

import io.penstock.node.cli.Flag;
import io.penstock.node.trace.GeneratorOptions;
import io.penstock.node.trace.TraceSource;
import io.penstock.node.trace.Workload;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// The options of generated traces.
final class SweepWorkloads {
  private static final String FLAG = "--workloads";
  private static final String ALL = "all";

  @Option(names = FLAG, paramLabel = "NAMES",
      description = "Compare on generated traces, in one table: all, or names separated by commas: " + Workload.NAMES
          + ". A TRACE is one more row.")
  private @Nullable String names;

  @Option(names = "--requests", paramLabel = "N",
      description = "Number of requests of each generated trace; with --workloads (default: 6000).")
  private @Nullable Integer requests;

  @Option(names = "--seed", paramLabel = "S",
      description = "Seed of each generated trace; with --workloads (default: 1).")
  private @Nullable Long seed;

  /// Refuses options that would otherwise be ignored without notice.
  void requireTogether() {
    if (names == null && (requests != null || seed != null)) {
      throw new IllegalArgumentException(
          (requests != null ? "--requests" : "--seed") + " must come with --workloads (was alone)");
    }
  }

  boolean areNamed() {
    return names != null;
  }

  List<Workload> named() {
    return names == null || names.equals(ALL)
        ? List.of(Workload.values())
        : SweepCommand.each(FLAG, names, name -> Workload.parse(FLAG, name));
  }

  TraceSource open(Workload workload) {
    return workload
        .open(Flag.named(() -> new GeneratorOptions(requests == null ? 6000 : requests, seed == null ? 1 : seed)));
  }
}
