package io.penstock.lab.bench.disk;

import io.penstock.block.CacheSpace;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.Progress;
import io.penstock.node.shape.BlockShape;
import io.penstock.storage.DiskUse;
import io.penstock.storage.JournalOptions;
import io.penstock.storage.JournalStore;
import io.penstock.storage.ReclaimOptions;
import io.penstock.storage.record.RecordFormat;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;

/// Reads blocks of a journal at a fixed rate: first while it is quiet, then while blocks are overwritten. Since most
/// bytes are live, compaction then moves blocks all the time, at its default rate.
final class ReclaimBench {
  private static final int LAYERS = 16;
  private static final int DIGITS = 3;
  private static final int WARM_UP_SHARE = 3;
  /// Maximum bytes of a segment that an engine uses in addition to records.
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
  private long readNanos;
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

  /// Shows its progress on `console`.
  ReclaimReport run(Console console) {
    try (LiveBlocks blocks = new LiveBlocks(space, load.blocks(), load.seed())) {
      churn(blocks, console);
      JournalStore store = JournalStore.open(space, options);
      try (Progress progress = Progress.of(console, "measuring", "reads")) {
        blocks.found(store.recovered());
        return measure(blocks, store, progress);
      } finally {
        store.close().block();
      }
    }
  }

  /// Fills the journal and overwrites blocks until compaction is steady, without a limit on its rate.
  private void churn(LiveBlocks blocks, Console console) {
    JournalStore store =
        JournalStore.open(space, options.withReclaim(options.reclaim().withBytesPerSecond(Long.MAX_VALUE)));
    long puts = (long) (load.churn() * load.blocks());
    long all = load.blocks() + puts;
    try (Progress progress = Progress.of(console, "filling", "blocks")) {
      progress.at(0, all);
      blocks.fill(store, done -> progress.at(done, all));
      for (long i = 1; i <= puts; i++) {
        blocks.overwrite(store);
        progress.at(load.blocks() + i, all);
      }
    } finally {
      store.close().block();
      blocks.releaseAll();
    }
  }

  private ReclaimReport measure(LiveBlocks blocks, JournalStore store, Progress progress) {
    PacedReads reads = new PacedReads(blocks, store, load.readsPerSecond(), load.seed() + 1, nanos);
    try {
      progress.next("warm-up");
      discard(progress);
      progress.next("nothing put");
      Histogram quiet = phase(store, progress);
      progress.next("blocks put and moved");
      return reclaiming(blocks, store, quiet, progress);
    } finally {
      reads.close();
    }
  }

  private ReclaimReport reclaiming(LiveBlocks blocks, JournalStore store, Histogram quiet, Progress progress) {
    DiskUse before = store.disk();
    PacedPuts puts = new PacedPuts(blocks, store, load.putsPerSecond());
    try {
      shares = 0;
      points = 0;
      Histogram reclaiming = phase(store, progress);
      DiskUse after = store.disk();
      return ReclaimReport.of(load, reads(quiet), reads(reclaiming), shares / points,
          after.userBytes() - before.userBytes(),
          after.movedBytes() - before.movedBytes());
    } finally {
      puts.close();
    }
  }

  /// Warms up: the JVM compiles the measured code, and compaction finishes the work that the opening left.
  private void discard(Progress progress) {
    long end = System.nanoTime() + load.phase().toNanos() / WARM_UP_SHARE;
    for (long now = System.nanoTime(); now < end; now = System.nanoTime()) {
      park(end - now, progress);
    }
    nanos.reset();
    series.start();
  }

  /// Waits a second, or `nanos` if that is less, and shows the progress of the reads.
  private void park(long nanos, Progress progress) {
    long waited = Math.min(TimeUnit.SECONDS.toNanos(1), nanos);
    LockSupport.parkNanos(waited);
    readNanos += waited;
    long all = 2 * load.phase().toNanos() + load.phase().toNanos() / WARM_UP_SHARE;
    progress.at(reads(readNanos), reads(all));
  }

  private long reads(long nanos) {
    return (long) (load.readsPerSecond() * (nanos / 1e9));
  }

  private Histogram phase(JournalStore store, Progress progress) {
    Histogram whole = new Histogram(MOST_NANOS, DIGITS);
    DiskUse since = store.disk();
    DiskUse before = since;
    long end = System.nanoTime() + load.phase().toNanos();
    for (long now = System.nanoTime(); now < end; now = System.nanoTime()) {
      park(end - now, progress);
      Histogram second = nanos.getIntervalHistogram();
      DiskUse stat = store.disk();
      series.point(second, before, stat, since, (System.nanoTime() - now) / 1e9);
      whole.add(second);
      before = stat;
      shares += share(stat);
      points++;
    }
    return whole;
  }

  /// Share of live bytes in the space that segments have for records, without the rest at their ends.
  private double share(DiskUse stat) {
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
