package io.penstock.flow;

import io.penstock.block.LayerSlice;
import io.penstock.tier.BlockTier.Run;
import java.util.List;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.LongSupplier;
import reactor.core.publisher.Flux;

/// Measures how long the reader of one request waits for the bytes of each level: the time from its demand until a
/// slice came. A slice with blocks of several levels waited for the slowest of them. The time that a reader takes
/// between a slice and its next demand does not count.
final class FetchMeasure {
  private final LongSupplier clock;
  private final Level[] levelOfBlock;
  private final TreeMap<Integer, Level> levels = new TreeMap<>();
  private long demand;
  private long since;

  /// Bytes that one request reads from one level.
  private static final class Level {
    private final int number;
    private final TransferRate.Transfer transfer;
    private long waitedNanos;

    Level(int number, TransferRate.Transfer transfer) {
      this.number = number;
      this.transfer = transfer;
    }
  }

  /// Begins a transfer from each level of `runs`.
  ///
  /// @param rates by the name of a level
  FetchMeasure(List<Run> runs, long blockBytes, Function<String, TransferRate> rates, LongSupplier clock) {
    this.clock = clock;
    this.levelOfBlock = new Level[runs.stream().mapToInt(Run::blocks).sum()];
    int block = 0;
    for (Run run : runs) {
      long bytes = runs.stream().filter(each -> each.level() == run.level()).mapToInt(Run::blocks).sum() * blockBytes;
      Level level = levels.computeIfAbsent(run.level(),
          number -> new Level(number, rates.apply(run.name()).begin(bytes)));
      for (int end = block + run.blocks(); block < end; block++) {
        levelOfBlock[block] = level;
      }
    }
  }

  /// Measures `slices`, whose positions count the blocks of the runs.
  Flux<LayerSlice> measured(Flux<LayerSlice> slices) {
    return slices.doOnRequest(this::requested).doOnNext(this::arrived).doFinally(end -> end());
  }

  private synchronized void requested(long more) {
    if (demand == 0) {
      since = clock.getAsLong();
    }
    demand = demand + more < 0 ? Long.MAX_VALUE : demand + more;
  }

  private synchronized void arrived(LayerSlice slice) {
    long now = clock.getAsLong();
    Level slowest = levelOfBlock[slice.position(0)];
    for (int i = 0; i < slice.spans().size(); i++) {
      Level level = levelOfBlock[slice.position(i)];
      level.transfer.arrived(slice.spans().get(i).bytes());
      slowest = level.number > slowest.number ? level : slowest;
    }
    slowest.waitedNanos += now - since;
    since = now;
    demand = demand == Long.MAX_VALUE ? demand : demand - 1;
  }

  private synchronized void end() {
    long now = clock.getAsLong();
    levels.values().forEach(level -> level.transfer.end(level.waitedNanos, now));
  }
}
