package io.penstock.examples.pressure;

import io.penstock.block.BlockKey;
import io.penstock.examples.pressure.PressureReport.Baseline;
import io.penstock.examples.pressure.PressureReport.Rates;
import io.penstock.node.tiers.BuiltTiers;
import io.penstock.node.tiers.TierRecording;
import io.penstock.stack.HostTier;
import io.penstock.tier.BlockTier;
import io.penstock.tier.TierListener;
import io.penstock.tier.TierStat;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/// The story: equal blocks go to bare files, into memory alone, and into memory over a disk that is slower than the
/// puts.
final class PressureRun implements TierListener, AutoCloseable {
  private static final Duration LIMIT = Duration.ofMinutes(10);

  private final PressureOptions options;
  private final @Nullable TierRecording recording;
  private final List<BlockKey> keys;
  private final Scheduler makers = Schedulers.newSingle("pressure-makers");
  private final Scheduler readers = Schedulers.newSingle("pressure-readers");
  private final AtomicLong refused = new AtomicLong();
  private final AtomicReference<@Nullable String> refusal = new AtomicReference<>();
  private final AtomicLong lost = new AtomicLong();
  private final AtomicLong invisible = new AtomicLong();
  private final AtomicLong accepted = new AtomicLong();
  private final AtomicLong filledNanos = new AtomicLong();
  private final AtomicReference<Reads> meanwhile = new AtomicReference<>(Reads.NONE);

  /// @param recording of memory over the disk; null for none
  PressureRun(PressureOptions options, @Nullable TierRecording recording) {
    this.recording = recording;
    this.options = options;
    this.keys = Pressure.keys(options.space(), options.seed(), options.blocks());
  }

  /// Bare files and memory alone, before there is a journal.
  Baseline baseline() throws IOException {
    double files = BareFiles.write(options, keys);
    HostTier memory = Pressure.memoryAlone(options);
    try {
      long start = System.nanoTime();
      await(windows().flatMap(window -> Pressure.put(memory, window, makers), PressureOptions.WINDOWS_AT_ONCE, 1)
          .then(Mono.just(true)));
      return new Baseline(rate(keys.size(), files * 1e9), rate(keys.size(), System.nanoTime() - start));
    } finally {
      memory.close().block(LIMIT);
    }
  }

  /// @param progress receives the number of blocks put
  PressureReport run(Baseline baseline, LongConsumer progress) {
    BuiltTiers built = Pressure.open(options, this, recording);
    BlockTier stack = built.tier();
    Rates rates;
    TierStat stat;
    Reads afterwards;
    try {
      long start = System.nanoTime();
      await(windows()
          .flatMap(window -> putAndLook(stack, window).thenReturn(window.size()), PressureOptions.WINDOWS_AT_ONCE, 1)
          .scan(0L, Long::sum).doOnNext(progress::accept).then(Mono.just(true)));
      rates = rates(start, System.nanoTime());
      stat = await(stack.stat());
      afterwards = await(
          windows().concatMap(window -> Pressure.read(stack, window, readers), 1).reduce(Reads.NONE, Reads::plus));
    } finally {
      stack.close().block(LIMIT);
    }
    return new PressureReport(options.disk().engine(), options.disk().mode(), options.disk().durability(), keys.size(),
        options.blockBytes(),
        options.memoryBytes(),
        baseline, rates, refused.get(), refusal.get(), lost.get(), invisible.get(), meanwhile.get(), afterwards,
        stat.levels(), built.stack().arena().claimedSlots());
  }

  private Flux<List<BlockKey>> windows() {
    return Flux.fromIterable(keys).buffer(options.windowBlocks());
  }

  /// Puts `window` and, as soon as it has its receipts, asks for its blocks, and for others. A put that fails is
  /// counted, the first with its reason, and costs its blocks.
  private Mono<Void> putAndLook(BlockTier tier, List<BlockKey> window) {
    return Pressure.put(tier, window, makers).doOnNext(receipts -> accepted(receipts.size()))
        .thenReturn(true).onErrorResume(why -> {
          refusal.compareAndSet(null, why.toString());
          refused.addAndGet(window.size());
          return Mono.just(false);
        }).flatMap(done -> done ? look(tier, window) : Mono.empty());
  }

  private void accepted(int blocks) {
    long before = accepted.getAndAdd(blocks);
    if (before < options.storedBlocks() && before + blocks >= options.storedBlocks()) {
      filledNanos.set(System.nanoTime());
    }
  }

  private Mono<Void> look(BlockTier tier, List<BlockKey> window) {
    return tier.contains(window).doOnNext(there -> invisible.addAndGet(window.size() - there.count()))
        .then(options.reads() == ReadBack.NONE
            ? Mono.empty()
            : Pressure.read(tier, choice(window), readers).subscribeOn(readers)
                .doOnNext(read -> meanwhile.accumulateAndGet(read, Reads::plus)).then());
  }

  /// Some of `window`, some of those that are leaving memory about now, some that left it long ago.
  private List<BlockKey> choice(List<BlockKey> window) {
    int first = keys.indexOf(window.getFirst());
    int leaving = first - (int) options.storedBlocks() + options.windowBlocks();
    int gone = Math.floorMod(first * 31, Math.max(1, leaving - options.ingressBlocks()));
    int count = options.reads() == ReadBack.ALL ? window.size() : 1;
    Set<BlockKey> chosen = new LinkedHashSet<>();
    for (int from : List.of(first, leaving, gone)) {
      if (from >= 0 && (from == first || from < leaving + count)) {
        chosen.addAll(keys.subList(from, Math.min(first + window.size(), from + count)));
      }
    }
    return List.copyOf(chosen);
  }

  private Rates rates(long start, long end) {
    long filled = filledNanos.get();
    return new Rates(rate(accepted.get(), end - start),
        filled == 0 ? 0 : rate(accepted.get() - options.storedBlocks(), end - filled));
  }

  /// Rate in GB/s.
  private double rate(long blocks, double nanos) {
    return (double) blocks * options.blockBytes() / nanos;
  }

  @Override
  public void lost(int blocks) {
    lost.addAndGet(blocks);
  }

  @Override
  public void close() {
    makers.dispose();
    readers.dispose();
  }

  private static <T> T await(Mono<T> mono) {
    return mono.blockOptional(LIMIT).orElseThrow();
  }
}
