package io.penstock.lab.bench.growth;

import io.penstock.check.Checks;
import io.penstock.lab.bench.growth.GrowthReport.Point;
import io.penstock.lab.bench.growth.GrowthReport.Row;
import io.penstock.lab.bench.side.Bench;
import io.penstock.lab.bench.side.BenchWait;
import io.penstock.lab.bench.side.Direction;
import io.penstock.lab.bench.side.Load;
import io.penstock.lab.bench.side.ProcessCpu;
import io.penstock.lab.bench.side.Turns;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.Progress;
import io.penstock.node.option.SecondsOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import reactor.netty.resources.LoopResources;

/// `penstock bench growth`: how CPU grows with what is asked and what is there.
@Command(
    name = "growth",
    description = {"Measures how CPU grows with what is asked and with what is there.", "",
      "Doubles blocks a request, layers a block, connections, spaces and keys held, each for itself, and says for each"
          + " the exponent e where the CPU time of all work grows as n to the power of e: 1 if a unit of work costs the"
          + " same whatever n is. Node and clients are in this process.",
      "",
      "Ends with 1 if an exponent is above --most.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock bench growth --grow layers,keys --doublings 6 --most 1.05", ""})
public final class GrowthCommand extends Bench<GrowthReport> {
  private static final int MOST_DOUBLINGS = 7;

  @Option(names = "--grow", paramLabel = "NAMES", split = ",",
      description = "What to double: blocks, layers, connections, spaces or keys (default: all).")
  private List<Growth> growths = new ArrayList<>();

  @Option(names = "--direction", paramLabel = "NAMES", split = ",",
      description = "get or put (default: both).")
  private List<Direction> directions = new ArrayList<>();

  @Option(names = "--doublings", paramLabel = "N",
      description = "Times that each is doubled, 1 to 7 (default: ${DEFAULT-VALUE}).", defaultValue = "5")
  private int doublings;

  @Option(names = "--seconds", paramLabel = "TIME", converter = SecondsOption.class,
      description = "Time of each size in each round, such as 0.5 or 2s (default: ${DEFAULT-VALUE}).",
      defaultValue = "0.5")
  private Duration seconds = Duration.ZERO;

  @Option(names = "--warm-up", paramLabel = "TIME", converter = SecondsOption.class,
      description = "Warm-up before the first round of each row, all sizes together (default: ${DEFAULT-VALUE}).",
      defaultValue = "6")
  private Duration warmUp = Duration.ZERO;

  @Option(names = "--rounds", paramLabel = "N",
      description = "Rounds in which the sizes take turns; figures are medians (default: ${DEFAULT-VALUE}).",
      defaultValue = "3")
  private int rounds;

  @Option(names = "--most", paramLabel = "EXPONENT",
      description = "Most that an exponent may be, such as 1.05; 0 for no limit (default: ${DEFAULT-VALUE}).",
      defaultValue = "0")
  private double most;

  GrowthCommand(Console console) {
    super(console);
  }

  @Override
  protected GrowthReport measured() {
    Checks.positive("--rounds", rounds);
    SecondsOption.positive("--seconds", seconds);
    if (doublings < 1 || doublings > MOST_DOUBLINGS) {
      throw new IllegalArgumentException(
          "--doublings must be in [1, " + MOST_DOUBLINGS + "] (was " + doublings + ")");
    } else if (!(most >= 0)) {
      throw new IllegalArgumentException("--most must be >= 0 (was " + most + ")");
    }
    List<Growth> grown = growths.isEmpty() ? List.of(Growth.values()) : growths;
    List<Direction> ways = directions.isEmpty() ? List.of(Direction.GET, Direction.PUT) : directions;
    LoopResources loops = LoopResources.create("penstock-growth", 2, true);
    try (Progress progress = Progress.of(console, "bench growth", "rows")) {
      List<Row> rows = new ArrayList<>();
      for (Growth growth : grown) {
        for (Direction direction : ways) {
          rows.add(row(growth, direction, loops));
          progress.at(rows.size(), (long) grown.size() * ways.size());
        }
      }
      return GrowthReport.of(most, rounds, rows);
    } finally {
      BenchWait.end(loops);
    }
  }

  private Row row(Growth growth, Direction direction, LoopResources loops) {
    List<GrownPair> pairs = new ArrayList<>();
    try {
      for (int i = 0; i <= doublings; i++) {
        pairs.add(new GrownPair(growth.at(growth.from() << i), loops));
      }
      List<Load> loads = pairs.stream().map(pair -> pair.load(direction)).toList();
      loads.forEach(load -> load.run(warmUp.toNanos() / loads.size()));
      double[][] micros = new double[loads.size()][rounds];
      for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < micros.length; i++) {
          int layers = growth == Growth.LAYERS ? growth.from() << i : 1;
          micros[i][round] = cpuMicros(loads.get(i)) / layers;
        }
      }
      List<Point> points = new ArrayList<>();
      for (int i = 0; i < micros.length; i++) {
        points.add(new Point(growth.from() << i, Turns.median(micros[i])));
      }
      return Row.of(growth, direction, points);
    } finally {
      pairs.forEach(GrownPair::close);
    }
  }

  /// CPU time of a block. A clock of 10 ms may see none of a short run.
  private double cpuMicros(Load load) {
    long before = ProcessCpu.nanos();
    Load.Done done = load.run(seconds.toNanos());
    return Math.max(1, ProcessCpu.nanos() - before) / 1e3 / done.units();
  }
}
