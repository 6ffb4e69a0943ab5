package io.penstock.lab.bench.doors;

import io.penstock.PenstockVersion;
import io.penstock.check.Checks;
import io.penstock.lab.bench.side.Bench;
import io.penstock.lab.bench.side.ProcessCpu;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.TemporaryFolder;
import io.penstock.node.option.SecondsOption;
import io.penstock.node.option.SizeOption;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/// `penstock bench doors`.
@Command(
    name = "doors",
    description = {"Values over Redis' protocol, at a node and at a Redis server side by side; every byte is compared.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock bench doors --sizes 64KiB,32MiB --clients 8", ""})
public final class DoorsBenchCommand extends Bench<DoorsReport> {
  private static final int KNOWN = 0;
  /// Longest value of a door.
  private static final int MOST_BYTES = 512 << 20;
  private static final int FIRST_BYTES = 64 << 10;
  private static final List<Integer> FIRST_TURNS_BYTES = List.of(FIRST_BYTES, 2 << 20);

  @Option(names = "--sizes", paramLabel = "SIZES", split = ",", converter = SizeOption.class,
      defaultValue = "64KiB,256KiB,1MiB,4MiB,16MiB,32MiB,64MiB",
      description = "Lengths of the values (default: ${DEFAULT-VALUE}).")
  private List<Long> sizes = List.of();

  @Option(names = "--clients", paramLabel = "N", split = ",", defaultValue = "1,8",
      description = "Connections, each with one request at a time (default: ${DEFAULT-VALUE}).")
  private List<Integer> clients = List.of();

  @Option(names = "--seconds", paramLabel = "TIME", converter = SecondsOption.class,
      defaultValue = "0.5",
      description = "Time of a turn, such as 2, 0.5 or 300ms (default: ${DEFAULT-VALUE}).")
  private Duration turn = Duration.ZERO;

  @Option(names = "--rounds", paramLabel = "N", defaultValue = "3",
      description = "Rounds in which both take turns (default: ${DEFAULT-VALUE}).")
  private int rounds;

  @Option(names = "--warm-up", paramLabel = "TIME", converter = SecondsOption.class, defaultValue = "16",
      description = "Time in which the node stores and reads before the first row, until its code is compiled"
          + " (default: ${DEFAULT-VALUE}).")
  private Duration warmUp = Duration.ZERO;

  @Option(names = "--writers", paramLabel = "N", defaultValue = "8",
      description = "Connections that store values while the wait of one reader is measured; 0 for no such"
          + " measurement (default: ${DEFAULT-VALUE}).")
  private int writers;

  @Option(names = "--dram", paramLabel = "SIZE", converter = SizeOption.class, defaultValue = "1536MiB",
      description = "Memory of the node (default: ${DEFAULT-VALUE}).")
  private long dram;

  @Option(names = "--loops", paramLabel = "N", defaultValue = "1",
      description = "Network threads of the node; a Redis server has one (default: ${DEFAULT-VALUE}).")
  private int loops;

  DoorsBenchCommand(Console console) {
    super(console);
  }

  @Override
  protected DoorsReport measured() throws IOException {
    clients.forEach(connections -> Checks.positive("--clients", connections));
    Checks.positive("--rounds", rounds);
    SecondsOption.positive("--seconds", turn);
    for (long size : sizes) {
      if (size < 1 || size > MOST_BYTES) {
        throw new IllegalArgumentException("--sizes must be in [1, %d] bytes (was %d)".formatted(MOST_BYTES, size));
      }
    }
    try (TemporaryFolder place = TemporaryFolder.create("penstock-bench-");
        DoorProcess ours = DoorProcess.node(place.path(), dram, loops);
        DoorProcess redis = DoorProcess.redis(console)) {
      compile(ours, warmUp);
      List<DoorsReport.Row> rows = new ArrayList<>();
      for (int connections : clients) {
        for (long size : sizes) {
          for (DoorLoad.Kind kind : List.of(DoorLoad.Kind.SET, DoorLoad.Kind.GET)) {
            rows.add(row(kind, Math.toIntExact(size), connections, ours, redis));
          }
        }
        rows.add(row(DoorLoad.Kind.EXISTS, KNOWN, connections, ours, redis));
      }
      List<DoorsReport.Wait> waits = new ArrayList<>();
      if (writers > 0) {
        waits.add(waits("node", ours));
        if (redis != null) {
          waits.add(waits("redis", redis));
        }
      }
      return new DoorsReport(PenstockVersion.current(), loops, warmUp.toNanos() / 1e9, turn.toNanos() / 1e9, rounds,
          rows, waits);
    }
  }

  /// Waits of one reader, alone and beside writers at full rate.
  private DoorsReport.Wait waits(String server, DoorProcess process) throws IOException {
    List<Double> alone = new ArrayList<>();
    List<Double> beside = new ArrayList<>();
    List<Double> written = new ArrayList<>();
    try (DoorLoad reader = new DoorLoad(process.port(), 1, FIRST_BYTES, DoorLoad.Kind.GET);
        DoorLoad busy = new DoorLoad(process.port(), writers, FIRST_BYTES, DoorLoad.Kind.SET);
        ExecutorService other = Executors.newSingleThreadExecutor()) {
      reader.run(turn);
      busy.run(turn);
      for (int i = 0; i < rounds; i++) {
        reader.run(turn);
        alone.add(reader.p99Nanos() / 1e3);
        Future<Double> writing = other.submit(() -> busy.run(turn));
        reader.run(turn);
        beside.add(reader.p99Nanos() / 1e3);
        written.add(await(writing));
      }
    }
    return DoorsReport.Wait.of(server, FIRST_BYTES, writers, alone, beside, written);
  }

  private static double await(Future<Double> load) throws IOException {
    try {
      return load.get();
    } catch (InterruptedException e) {
      throw new IOException("a benchmark must not be interrupted", e);
    } catch (ExecutionException e) {
      throw new IOException("a connection failed", e.getCause());
    }
  }

  /// Has the code of a new node compiled, which the turn before the rounds of a row is too short for.
  private static void compile(DoorProcess ours, Duration time) throws IOException {
    List<DoorLoad.Kind> kinds = List.of(DoorLoad.Kind.SET, DoorLoad.Kind.GET);
    for (int bytes : FIRST_TURNS_BYTES) {
      for (DoorLoad.Kind kind : kinds) {
        try (DoorLoad first = new DoorLoad(ours.port(), 4, bytes, kind)) {
          first.run(time.dividedBy((long) FIRST_TURNS_BYTES.size() * kinds.size()));
        }
      }
    }
  }

  private DoorsReport.Row row(DoorLoad.Kind kind, int size, int connections, DoorProcess ours,
      @Nullable DoorProcess redis) throws IOException {
    DoorsReport.Turns our = new DoorsReport.Turns();
    DoorsReport.Turns their = redis == null ? null : new DoorsReport.Turns();
    try (DoorLoad near = new DoorLoad(ours.port(), connections, size, kind);
        DoorLoad far = redis == null ? null : new DoorLoad(redis.port(), connections, size, kind)) {
      near.run(turn); // until code is compiled and memory is there
      if (far != null) {
        far.run(turn);
      }
      for (int i = 0; i < rounds; i++) {
        turn(near, ours, our);
        if (far != null && redis != null && their != null) {
          turn(far, redis, their);
        }
      }
    }
    return DoorsReport.Row.of(kind, size, connections, our, their);
  }

  private void turn(DoorLoad load, DoorProcess server, DoorsReport.Turns turns) throws IOException {
    long serverBefore = server.cpuNanos();
    long clientBefore = ProcessCpu.nanos();
    double rate = load.run(turn);
    turns.add(rate, turn.toNanos() / 1e9, server.cpuNanos() - serverBefore, ProcessCpu.nanos() - clientBefore);
  }
}
