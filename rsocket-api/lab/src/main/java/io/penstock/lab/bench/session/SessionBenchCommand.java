package io.penstock.lab.bench.session;

import io.penstock.block.EvictionPolicy;
import io.penstock.check.Checks;
import io.penstock.lab.bench.side.Bench;
import io.penstock.node.cli.Console;
import java.util.List;
import java.util.stream.LongStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/// `penstock bench sessions`: the policy `sessions` beside `lru` and `reuse_aware`, for agents that pause.
@Command(
    name = "sessions",
    description = {"Counts the hits of agents that pause, with and without a policy that knows their sessions.", "",
      "Simulates pools without bytes over generated traces: agents that name their session, say when they pause and"
          + " when they end, and people who name none. The pools have a part of the blocks that an unbounded one has.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock bench sessions --seed 1 --seeds 5", ""})
public final class SessionBenchCommand extends Bench<SessionReport> {
  @Option(names = "--agents", paramLabel = "N", description = "Agents (default: ${DEFAULT-VALUE}).",
      defaultValue = "250")
  private int agents;

  @Option(names = "--people", paramLabel = "N",
      description = "Conversations without a session (default: ${DEFAULT-VALUE}).", defaultValue = "500")
  private int people;

  @Option(names = "--pause-part", paramLabel = "PART",
      description = "Part of the agents' turns before which there is a pause of 30 to 600 s"
          + " (default: ${DEFAULT-VALUE}).",
      defaultValue = "0.1")
  private double pausePart;

  @Option(names = "--size", paramLabel = "PART",
      description = "Size of the pools, as part of the blocks of an unbounded one (default: ${DEFAULT-VALUE}).",
      defaultValue = "0.25")
  private double size;

  @Option(names = "--seed", paramLabel = "N", description = "First seed (default: ${DEFAULT-VALUE}).",
      defaultValue = "1")
  private long seed;

  @Option(names = "--seeds", paramLabel = "N", description = "Number of seeds (default: ${DEFAULT-VALUE}).",
      defaultValue = "3")
  private int seeds;

  public SessionBenchCommand(Console console) {
    super(console);
  }

  @Override
  protected SessionReport measured() {
    Checks.positive("--agents", agents);
    Checks.notNegative("--people", people);
    Checks.positive("--seeds", seeds);
    requirePart("--pause-part", pausePart);
    requirePart("--size", size);
    return SessionReport.of(agents, people, pausePart, size, LongStream.range(seed, seed + seeds).boxed().toList(),
        List.of(EvictionPolicy.LRU, EvictionPolicy.REUSE_AWARE, EvictionPolicy.SESSIONS));
  }

  private static void requirePart(String flag, double part) {
    if (!(part > 0 && part <= 1)) {
      throw new IllegalArgumentException(flag + " must be in (0, 1] (was " + part + ")");
    }
  }
}
