package io.penstock.lab.bench.recording;

import static java.util.Objects.requireNonNull;

import io.penstock.lab.bench.side.WrongBytesException;
import io.penstock.node.cli.Folders;
import io.penstock.node.cli.Progress;
import io.penstock.node.party.Delivery;
import io.penstock.node.party.FlowPlan;
import io.penstock.node.party.LoopbackParties;
import io.penstock.node.party.TraceKeys;
import io.penstock.node.setting.Capacity;
import io.penstock.node.shape.BlockShape;
import io.penstock.node.tiers.TierPlan;
import io.penstock.node.tiers.TierRecording;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// Measures what a recording costs: blocks are put into a node over loopback sockets and read again, every byte
/// compared, by turns with each kind of recording. Each turn has a node of its own, which is filled with other blocks
/// first: so each put evicts, in memory that was used before, as in a node that has run for a while. Neither this nor
/// the opening counts.
///
/// A round has a turn of each kind, and begins with another one than the round before. What a kind costs is the median
/// of its costs in the rounds, each against the turn of the same round that recorded nothing.
final class RecordingBench {
  private static final Duration PATIENCE = Duration.ofMinutes(2);
  private static final long BUDGET_BYTES = 64L << 20;
  private static final int CONCURRENCY = 2;
  /// Blocks of a request.
  private static final int REQUEST_BLOCKS = 64;

  private final RecordedLoad load;
  private final Path folder;
  private final Scheduler timers;
  private final LongSupplier nanoClock;
  private final FlowPlan plan;
  private final List<List<Long>> filling;
  private final List<List<Long>> requests;

  /// Figures of a turn, in bytes a second.
  ///
  /// @param events in the recording, which was read
  /// @param missed events that it lacks
  private record Turn(double put, double read, long events, long missed) {
    double both() {
      return 2 / (1 / put + 1 / read);
    }
  }

  /// @param folder of the recordings
  RecordingBench(RecordedLoad load, Path folder, Scheduler timers, LongSupplier nanoClock) {
    this.load = load;
    this.folder = folder;
    this.timers = timers;
    this.nanoClock = nanoClock;
    this.plan = FlowPlan.of(BlockShape.of(load.blockBytes(), 1).space("bench"), BUDGET_BYTES, CONCURRENCY);
    this.filling = requests(load.blocks(), load.blocks());
    this.requests = requests(0, load.blocks());
  }

  private static List<List<Long>> requests(long first, long blocks) {
    List<List<Long>> all = new ArrayList<>();
    for (long from = first; from < first + blocks; from += REQUEST_BLOCKS) {
      all.add(LongStream.range(from, Math.min(first + blocks, from + REQUEST_BLOCKS)).boxed().toList());
    }
    return all;
  }

  RecordingReport run(Progress progress) {
    Map<RecordedMode, List<Turn>> turns = new EnumMap<>(RecordedMode.class);
    List<RecordedMode> order = new ArrayList<>(List.of(RecordedMode.values()));
    int rounds = RecordedLoad.WARMING + load.rounds();
    for (int round = 0; round < rounds; round++) {
      progress.next(round < RecordedLoad.WARMING ? "warm-up" : "round " + (round - RecordedLoad.WARMING + 1));
      for (RecordedMode mode : order) {
        Turn turn = turn(mode, folder.resolve(mode + "-" + round));
        if (round >= RecordedLoad.WARMING) {
          turns.computeIfAbsent(mode, each -> new ArrayList<>()).add(turn);
        }
      }
      Collections.rotate(order, 1);
      progress.at(round + 1, rounds);
    }
    List<Turn> nothing = requireNonNull(turns.get(RecordedMode.NOTHING));
    return RecordingReport.of(load, turns.entrySet().stream().map(each -> mode(each.getKey(), each.getValue(), nothing))
        .toList());
  }

  /// @param nothing turns of the same rounds in which nothing was recorded
  private static RecordingReport.Mode mode(RecordedMode mode, List<Turn> turns, List<Turn> nothing) {
    double[] lost = IntStream.range(0, turns.size()).mapToDouble(i -> 1 - turns.get(i).both() / nothing.get(i).both())
        .toArray();
    return new RecordingReport.Mode(mode.word(), median(turns, Turn::put), median(turns, Turn::read), median(lost),
        mode.mostLost(), turns.stream().mapToLong(Turn::events).max().orElse(0),
        turns.stream().mapToLong(Turn::missed).sum());
  }

  private static double median(List<Turn> turns, ToDoubleFunction<Turn> figure) {
    return median(turns.stream().mapToDouble(figure).toArray());
  }

  private static double median(double[] figures) {
    Arrays.sort(figures);
    return figures[figures.length / 2];
  }

  private Turn turn(RecordedMode mode, Path place) {
    TierRecording recording = mode.begin(place);
    TierPlan tiers = TierPlan.dram(plan.space(), Capacity.ofBlocks(load.blocks()));
    LoopbackParties parties = opened(tiers, recording);
    double put;
    double read;
    try {
      filling.forEach(ids -> await(parties.prefill().put(ids)));
      put = rate(() -> requests.forEach(ids -> await(parties.prefill().put(ids))));
      read = rate(() -> requests.forEach(ids -> read(parties, ids)));
      if (mode == RecordedMode.LAST && recording != null) {
        recording.save("end of the turn");
      }
    } finally {
      await(parties.close());
    }
    try {
      return new Turn(put, read, mode.events(place), recording == null ? 0 : recording.missed());
    } finally {
      delete(place);
    }
  }

  private static void delete(Path place) {
    try {
      Folders.delete(place);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private LoopbackParties opened(TierPlan tiers, @Nullable TierRecording recording) {
    return requireNonNull(LoopbackParties.open(plan, tiers, new TraceKeys(plan.space().id(), 0), timers, nanoClock,
        recording, 1).block(PATIENCE), "parties");
  }

  private double rate(Runnable work) {
    long began = nanoClock.getAsLong();
    work.run();
    return (double) load.blockBytes() * load.blocks() * 1e9 / (nanoClock.getAsLong() - began);
  }

  private static void read(LoopbackParties parties, List<Long> ids) {
    Delivery delivery = requireNonNull(parties.decode().read(ids, answer -> Mono.error(
        new IllegalStateException("all blocks must be in the node (was " + answer + ")"))).block(PATIENCE), "delivery");
    if (delivery.corruptBlocks() > 0 || delivery.hits() != ids.size()) {
      throw new WrongBytesException("blocks must come with their bytes (was " + delivery + ")");
    }
  }

  private static void await(Mono<Void> work) {
    work.block(PATIENCE);
  }
}
