package io.penstock.flow;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.LayerSlice;
import io.penstock.block.SliceShape;
import io.penstock.check.Checks;
import io.penstock.stage.Fetch;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.OnMiss;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// Loads the longest prefix of a list of keys that a tier has, for a decode that continues from there. Only the blocks
/// of the prefix count as used.
///
/// The stream ends before the first block that the tier lacks, and may be empty. A cancel ends the leases, and the
/// scope frees blocks and slices not taken.
public final class LoadPrefix {
  private LoadPrefix() {}

  /// The prefix block by block. If a block leaves the tier before it is read, the prefix ends before that block.
  ///
  /// | | |
  /// |---|---|
  /// | backpressure | blocks; ahead of demand as [Fetch] says |
  /// | threads | the tier's |
  /// | signals | errors of the tier, after the blocks that came before them |
  ///
  /// @param scope owns the blocks emitted; close each when read
  public static Flux<Block> blocks(BlockTier tier, List<BlockKey> keys, Fetch.Options options, BlockScope scope) {
    return tier.match(keys).flatMapIterable(found -> keys.subList(0, found))
        .transform(Fetch.from(tier, options, scope))
        .transform(blocks -> whileInOrder(blocks, keys));
  }

  /// The prefix slice by slice, layer after layer in each window of blocks. The whole prefix is leased at once, and
  /// stays readable until the stream ends.
  ///
  /// | | |
  /// |---|---|
  /// | backpressure | slices; a remote tier gets the same demand |
  /// | threads | the tier's |
  /// | signals | errors of the tier |
  ///
  /// @param shape how to cut; a remote tier cuts by the setting of its connection
  /// @param scope owns the slices emitted; close each when read
  public static Flux<LayerSlice> layers(BlockTier tier, List<BlockKey> keys, SliceShape shape, BlockScope scope) {
    requireNonNull(shape, "shape");
    return found(tier, keys, scope).flatMapMany(lease -> lease.slices(shape, scope));
  }

  /// Loads the prefix into `rows`, layer after layer in each window of blocks, each slice when it has arrived. An
  /// engine that computes meanwhile follows [EngineRows#found] and [EngineRows#loaded].
  ///
  /// | | |
  /// |---|---|
  /// | answer | number of blocks, from the first one on, whose rows are all written |
  /// | threads | the tier's |
  /// | cancel | ends the lease; rows written before stay, and none is written once the cancel has returned |
  /// | signals | errors of the tier, what `rows` throws, `IllegalArgumentException` for a row of another length |
  ///
  /// @param shape how to cut; a remote tier cuts by the setting of its connection
  /// @return cold; each subscription loads
  public static Mono<Integer> rows(BlockTier tier, List<BlockKey> keys, SliceShape shape, EngineRows rows) {
    shape.requireWholeBlocks();
    requireNonNull(rows, "rows");
    LoadedRows.requireTokenRows(tier);
    return Mono.defer(() -> {
      LentRows lent = new LentRows(rows);
      LoadedRows loaded = new LoadedRows(tier.info().space().layout(), keys.size(), lent);
      return Flux.using(BlockScope::new,
          scope -> found(tier, keys, scope).flatMapMany(lease -> {
            loaded.found(lease.found().count());
            return lease.slices(shape, scope);
          }).doOnNext(loaded::take), scope -> {
            lent.takeBack();
            scope.close();
          }).then(Mono.fromSupplier(loaded::completeBlocks));
    });
  }

  /// The part of the prefix that is faster to fetch than to compute, slice by slice as [#layers]. The engine computes
  /// the request from the end of the last block on.
  ///
  /// @param choice decides how much to fetch, receives the decision, and learns from the transfer
  public static Flux<LayerSlice> layers(BlockTier tier, List<BlockKey> keys, SliceShape shape, Choice choice,
      BlockScope scope) {
    requireNonNull(shape, "shape");
    requireNonNull(choice, "choice");
    return tier.locate(keys).flatMapMany(runs -> {
      int blocks = choice.plan(tier, runs).fetchBlocks();
      return lease(tier, keys.subList(0, blocks), scope)
          .flatMapMany(lease -> choice.measured(tier, runs, lease.found().count(), lease.slices(shape, scope)));
    });
  }

  /// Asks how long the prefix is, and waits for the answer no longer than `deadline`. An engine asks this before it
  /// admits a request, so an answer that is late, or an error, is a miss, and says why.
  ///
  /// | | |
  /// |---|---|
  /// | cancel | ends the question; so does the deadline |
  /// | threads | the tier's, or one of `timer` |
  /// | signals | no errors: [Lookup#error] has them |
  ///
  /// @param deadline above 0
  /// @param timer clock of the deadline
  /// @return cold
  public static Mono<Lookup> lookup(BlockTier tier, List<BlockKey> keys, Duration deadline, Scheduler timer) {
    Checks.positive("deadline", deadline);
    requireNonNull(timer, "timer");
    return tier.match(keys).map(found -> new Lookup(found, Outcome.ANSWERED, null))
        .onErrorResume(error -> Mono.just(new Lookup(0, Outcome.FAILED, error)))
        .timeout(deadline, Mono.just(new Lookup(0, Outcome.LATE, null)), timer);
  }

  /// A lease on the longest prefix that the tier has; empty if it has none.
  private static Mono<Lease> found(BlockTier tier, List<BlockKey> keys, BlockScope scope) {
    return tier.match(keys).flatMap(found -> lease(tier, keys.subList(0, found), scope));
  }

  /// A lease on all of `keys`, or on their present prefix if blocks were evicted since the match.
  private static Mono<Lease> lease(BlockTier tier, List<BlockKey> keys, BlockScope scope) {
    return keys.isEmpty() ? Mono.empty() : tier.lease(keys, OnMiss.SKIP, scope).flatMap(lease -> {
      int prefix = lease.found().prefix();
      if (prefix == keys.size()) {
        return Mono.just(lease);
      }
      lease.close();
      return lease(tier, keys.subList(0, prefix), scope);
    });
  }

  private static Flux<Block> whileInOrder(Flux<Block> blocks, List<BlockKey> keys) {
    return Flux.defer(() -> {
      Iterator<BlockKey> next = keys.iterator();
      return blocks.takeWhile(block -> block.key().equals(next.next()));
    });
  }

  /// Result of a lookup.
  public enum Outcome {
    ANSWERED,
    /// The deadline passed.
    LATE,
    /// The tier signalled an error.
    FAILED
  }

  /// The answer of [#lookup].
  ///
  /// @param blocks of the prefix; 0 without an answer
  /// @param error of the tier, if it failed
  public record Lookup(int blocks, Outcome outcome, @Nullable Throwable error) {
    public Lookup {
      Checks.notNegative("blocks", blocks);
      requireNonNull(outcome, "outcome");
    }
  }

  // Fetch or compute

  /// Decides how much of a prefix is worth fetching: the prefix for which the transfer, and the computation of the
  /// rest, together take least time. It learns latency and bandwidth of each level of each tier from the transfers that
  /// it sees. Use one for all requests of an engine.
  ///
  /// The estimates decide alone, without hysteresis; of two prefixes that take the same time the longer one is fetched.
  /// Blocks of a level without a fresh estimate are fetched, to learn. Safe from any thread. Memory: one estimate for
  /// each level.
  public static final class Choice {
    private final Options options;
    private final LongSupplier clock;
    private final Consumer<? super Plan> listener;
    private final Map<String, TransferRate> rates = new ConcurrentHashMap<>();

    /// Settings of a [Choice].
    ///
    /// @param enabled whether it decides; if not, all is fetched
    /// @param tokensPerSecond how fast the engine computes a prefill, above 0
    /// @param halfLife after which a transfer counts half
    /// @param fresh how long an estimate is used after the last transfer of a level has ended
    public record Options(boolean enabled, double tokensPerSecond, Duration halfLife, Duration fresh) {
      public Options {
        if (!(tokensPerSecond > 0)) {
          throw new IllegalArgumentException("tokensPerSecond must be > 0 (was " + tokensPerSecond + ")");
        }
        Checks.positive("halfLife", halfLife);
        Checks.positive("fresh", fresh);
      }

      /// Enabled; a half-life of 10 s, estimates for 60 s.
      public static Options of(double tokensPerSecond) {
        return new Options(true, tokensPerSecond, Duration.ofSeconds(10), Duration.ofSeconds(60));
      }

      public Options withEnabled(boolean enabled) {
        return new Options(enabled, tokensPerSecond, halfLife, fresh);
      }
    }

    /// @param nanos a monotonic clock
    /// @param listener receives each decision, before the transfer begins; must be quick
    public Choice(Options options, LongSupplier nanos, Consumer<? super Plan> listener) {
      this.options = requireNonNull(options, "options");
      this.clock = requireNonNull(nanos, "nanos");
      this.listener = requireNonNull(listener, "listener");
    }

    private TransferRate rate(BlockTier tier, String level) {
      return rates.computeIfAbsent(tier.info().name() + " " + level, name -> new TransferRate(options.halfLife()));
    }

    private Plan plan(BlockTier tier, List<BlockTier.Run> runs) {
      long now = clock.getAsLong();
      List<Part> parts = runs.stream().map(run -> new Part(run.name(), run.blocks(),
          rate(tier, run.name()).estimate(now, options.fresh().toNanos()))).toList();
      BlockLayout layout = tier.info().space().layout();
      Plan plan = options.enabled()
          ? FetchPlanner.fastest(parts, layout.blockBytes(), layout.tokens(), options.tokensPerSecond())
          : FetchPlanner.all(parts);
      listener.accept(plan);
      return plan;
    }

    /// Learns from `slices` of the first `blocks` of `runs`.
    private Flux<LayerSlice> measured(BlockTier tier, List<BlockTier.Run> runs, int blocks, Flux<LayerSlice> slices) {
      long blockBytes = tier.info().space().layout().blockBytes();
      return Flux.defer(() -> new FetchMeasure(first(runs, blocks), blockBytes, level -> rate(tier, level), clock)
          .measured(slices));
    }

    private static List<BlockTier.Run> first(List<BlockTier.Run> runs, int blocks) {
      List<BlockTier.Run> first = new ArrayList<>();
      int left = blocks;
      for (int i = 0; left > 0; i++) {
        BlockTier.Run run = runs.get(i);
        first.add(new BlockTier.Run(run.level(), run.name(), Math.min(left, run.blocks())));
        left -= run.blocks();
      }
      return first;
    }
  }

  /// How much of a prefix to fetch, and why.
  ///
  /// @param parts of the prefix that was found, in order
  /// @param fetchBlocks blocks to fetch
  /// @param planNanos how long it takes to fetch these and to compute the others
  /// @param fetchNanos how long it would take to fetch all
  /// @param computeNanos how long it would take to compute all
  public record Plan(List<Part> parts, int fetchBlocks, Reason reason, long planNanos, long fetchNanos,
      long computeNanos) {
    public Plan {
      parts = List.copyOf(parts);
      requireNonNull(reason, "reason");
    }

    /// Blocks that were found.
    public int foundBlocks() {
      return blocks(parts);
    }

    static int blocks(List<Part> parts) {
      return parts.stream().mapToInt(Part::blocks).sum();
    }
  }

  /// Why a plan fetches what it fetches.
  public enum Reason {
    /// Nothing was found.
    MISS,
    /// Plans are turned off: all is fetched.
    OFF,
    /// A level among the fetched blocks has no fresh estimate: they are fetched, to learn.
    UNKNOWN,
    /// Fetching all blocks is fastest.
    FETCH,
    /// Fetching a part, and computing the rest, is fastest.
    PART,
    /// Computing all blocks is fastest.
    COMPUTE
  }

  /// Blocks in a row that come from one level.
  ///
  /// @param place name of the level
  /// @param rate of the level; null if there is no fresh estimate
  public record Part(String place, int blocks, @Nullable Rate rate) {
    public Part {
      requireNonNull(place, "place");
      Checks.positive("blocks", blocks);
    }
  }

  /// Transfer rate of a level.
  ///
  /// @param queuedBytes of transfers under way, which come first
  public record Rate(double bytesPerSecond, long latencyNanos, long queuedBytes) {
    /// Estimated time to fetch `bytes` more.
    public long nanos(long bytes) {
      return latencyNanos
          + Math.round((queuedBytes + bytes) * (double) Duration.ofSeconds(1).toNanos() / bytesPerSecond);
    }
  }
}
