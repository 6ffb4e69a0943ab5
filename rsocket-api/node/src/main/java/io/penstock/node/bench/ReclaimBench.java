package io.penstock.node.bench;

import io.penstock.block.CacheSpace;
import io.penstock.node.config.BlockShape;
import io.penstock.storage.JournalOptions;
import io.penstock.storage.JournalStore;
import io.penstock.storage.ReclaimOptions;
import io.penstock.storage.SpaceStat;
import io.penstock.storage.record.RecordFormat;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;

/// Reads blocks of a journal at a fixed rate, first while it is quiet, then while blocks are overwritten and, since
/// most of what is held is live, moved all the time at the rate that is the default.
final class ReclaimBench {
  private static final int LAYERS = 16;
  private static final int DIGITS = 3;
  /// What an engine takes of a segment beside records, at most.
  private static final int OVERHEAD_BYTES = 64 << 10;
  private static final long MOST_NANOS = TimeUnit.MINUTES.toNanos(2);

  private final ReclaimLoad load;
  private final JournalOptions options;
  private final CacheSpace space;
  private final ReclaimSeries series = new ReclaimSeries();
  private final Recorder nanos = new Recorder(MOST_NANOS, DIGITS);
  private final long segmentRecords;
  private final long recordBytes;
  private double shares;
  private int points;

  ReclaimBench(ReclaimLoad load, Path directory) {
    this.load = load;
    this.options = JournalOptions.defaults(directory).withEngine(load.engine()).withSegmentBytes(load.segmentBytes())
        .withReclaim(ReclaimOptions.defaults().withMostSpread(1 / load.liveShare()));
    this.space = CacheSpace.of("bench", BlockShape.of(load.blockBytes(), LAYERS).layout());
    this.recordBytes = RecordFormat.recordBytes(space.layout());
    this.segmentRecords = (load.segmentBytes() - OVERHEAD_BYTES) / recordBytes;
  }

  ReclaimSeries series() {
    return series;
  }

  /// @param tell what is done now, in a few words
  ReclaimReport run(Consumer<String> tell) {
    try (LiveBlocks blocks = new LiveBlocks(space, load.blocks(), load.seed())) {
      tell.accept("filling, and overwriting until moves are steady");
      churn(blocks);
      JournalStore store = JournalStore.open(space, options);
      try {
        blocks.found(store.recovered());
        return measure(blocks, store, tell);
      } finally {
        store.close().block();
      }
    }
  }

  /// Without a limit on what is moved.
  private void churn(LiveBlocks blocks) {
    JournalStore store =
        JournalStore.open(space, options.withReclaim(options.reclaim().withBytesPerSecond(Long.MAX_VALUE)));
    try {
      blocks.fill(store, done -> {});
      long puts = (long) (load.churn() * load.blocks());
      for (long i = 0; i < puts; i++) {
        blocks.overwrite(store);
      }
    } finally {
      store.close().block();
      blocks.letGo();
    }
  }

  private ReclaimReport measure(LiveBlocks blocks, JournalStore store, Consumer<String> tell) {
    PacedReads reads = new PacedReads(blocks, store, load.readsPerSecond(), load.seed() + 1, nanos);
    try {
      tell.accept("reading; the first seconds do not count");
      discard();
      tell.accept("reading while nothing is put");
      Histogram quiet = phase(store);
      tell.accept("reading while blocks are overwritten and moved");
      return reclaiming(blocks, store, quiet);
    } finally {
      reads.close();
    }
  }

  private ReclaimReport reclaiming(LiveBlocks blocks, JournalStore store, Histogram quiet) {
    SpaceStat before = store.disk();
    PacedPuts puts = new PacedPuts(blocks, store, load.putsPerSecond());
    try {
      shares = 0;
      points = 0;
      Histogram reclaiming = phase(store);
      SpaceStat after = store.disk();
      return ReclaimReport.of(load, reads(quiet), reads(reclaiming), shares / points,
          after.userBytes() - before.userBytes(),
          after.movedBytes() - before.movedBytes());
    } finally {
      puts.close();
    }
  }

  /// The code that is measured gets compiled; what opening left to be moved is.
  private void discard() {
    LockSupport.parkNanos(load.phase().toNanos() / 3);
    nanos.reset();
    series.start();
  }

  private Histogram phase(JournalStore store) {
    Histogram whole = new Histogram(MOST_NANOS, DIGITS);
    SpaceStat since = store.disk();
    SpaceStat before = since;
    long end = System.nanoTime() + load.phase().toNanos();
    for (long now = System.nanoTime(); now < end; now = System.nanoTime()) {
      LockSupport.parkNanos(Math.min(TimeUnit.SECONDS.toNanos(1), end - now));
      Histogram second = nanos.getIntervalHistogram();
      SpaceStat stat = store.disk();
      series.point(second, before, stat, since, (System.nanoTime() - now) / 1e9);
      whole.add(second);
      before = stat;
      shares += share(stat);
      points++;
    }
    return whole;
  }

  /// Of the room that segments have for records; what is left at their ends is none.
  private double share(SpaceStat stat) {
    return (double) stat.liveBytes() / (stat.segments() * segmentRecords * recordBytes);
  }

  private static ReclaimReport.Reads reads(Histogram nanos) {
    return new ReclaimReport.Reads(nanos.getTotalCount(), micros(nanos, 50), micros(nanos, 90), micros(nanos, 99),
        micros(nanos, 99.9), nanos.getMaxValue() / 1e3);
  }

  private static double micros(Histogram nanos, double percentile) {
    return nanos.getValueAtPercentile(percentile) / 1e3;
  }
}
