package io.penstock.lab.bench.replay;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSlice;
import io.penstock.block.SliceShape;
import io.penstock.flow.ProducingSource;
import io.penstock.lab.bench.side.ProcessCpu;
import io.penstock.node.cli.Progress;
import io.penstock.node.content.KvPattern;
import io.penstock.node.party.DecodeParty;
import io.penstock.node.party.FlowPlan;
import io.penstock.node.party.LoopbackParties;
import io.penstock.node.party.PartyConnection;
import io.penstock.node.party.PrefillParty;
import io.penstock.node.party.ReplayPace;
import io.penstock.node.party.TraceKeys;
import io.penstock.node.replay.Replay;
import io.penstock.node.replay.report.Tally;
import io.penstock.node.trace.TraceRequest;
import io.penstock.node.trace.TraceSource;
import io.penstock.tier.BlockTier;
import io.penstock.tier.OnMiss;
import io.penstock.tier.PutSource;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Scheduler;

/// Measures the CPU time of a replay beside that of its parts, by turns: the same requests are replayed, then their
/// blocks are put, got, made and compared, each for itself. All parties are in this process, so its CPU time is that of
/// all of them.
///
/// Each turn uses keys of its own, so the node has none of them and evicts older ones meanwhile.
final class ReplayBench implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofMinutes(2);
  /// Memory that bytes are made in: that of a prefill party, about.
  private static final int SCRATCH_BYTES = 8 << 20;

  private final FlowPlan plan;
  private final LoopbackParties parties;
  private final Scheduler driver;
  private final LongSupplier nanoClock;
  private final List<TraceRequest> requests;
  private final Arena memory = Arena.ofShared();
  private final MemorySegment scratch;
  /// For each request the ids that no request before has.
  private final List<List<Long>> firsts = new ArrayList<>();
  private final long readBytes;
  private final long madeBytes;
  private long turns;

  /// @param requests replayed in each turn
  /// @param driver starts requests in turn
  ReplayBench(FlowPlan plan, LoopbackParties parties, List<TraceRequest> requests, Scheduler driver,
      LongSupplier nanoClock) {
    this.plan = plan;
    this.parties = parties;
    this.driver = driver;
    this.nanoClock = nanoClock;
    this.requests = List.copyOf(requests);
    this.scratch = memory.allocate(Math.max(SCRATCH_BYTES, blockBytes()), 64);
    Set<Long> seen = new HashSet<>();
    requests.forEach(request -> firsts.add(request.hashIds().stream().filter(seen::add).toList()));
    this.readBytes = requests.stream().mapToLong(TraceRequest::blocks).sum() * blockBytes();
    this.madeBytes = (long) seen.size() * blockBytes();
  }

  private int blockBytes() {
    return plan.space().layout().blockBytes();
  }

  /// Different blocks of the requests.
  long blocks() {
    return madeBytes / blockBytes();
  }

  /// Turns until `warmUp` is over, then `rounds` more.
  ReplayBenchReport run(Duration warmUp, int rounds, Progress progress) {
    long began = nanoClock.getAsLong();
    while (nanoClock.getAsLong() - began < warmUp.toNanos()) {
      progress.next("warm-up");
      round();
    }
    List<ReplayBenchReport.Round> measured = new ArrayList<>();
    for (int i = 0; i < rounds; i++) {
      progress.next("round " + (i + 1));
      measured.add(round());
      progress.at(i + 1, rounds);
    }
    return ReplayBenchReport.of(plan, requests.size(), warmUp, readBytes, madeBytes, measured);
  }

  private ReplayBenchReport.Round round() {
    TraceKeys whole = freshKeys();
    ReplayBenchReport.Cost replayed = cost(() -> replay(whole));
    TraceKeys parts = freshKeys();
    ReplayBenchReport.Cost put = cost(() -> put(parts));
    ReplayBenchReport.Cost got = cost(() -> get(parts));
    ReplayBenchReport.Cost made = cost(() -> make(parts));
    List<BlockKey> compared = made(parts);
    return new ReplayBenchReport.Round(replayed, put, got, made, cost(() -> compare(compared)));
  }

  private TraceKeys freshKeys() {
    return new TraceKeys(plan.space().id(), ++turns);
  }

  private ReplayBenchReport.Cost cost(Runnable work) {
    long cpu = ProcessCpu.nanos();
    long began = nanoClock.getAsLong();
    work.run();
    return new ReplayBenchReport.Cost(ProcessCpu.nanos() - cpu, nanoClock.getAsLong() - began);
  }

  private void replay(TraceKeys keys) {
    DecodeParty decode = parties.connected().decoding().decode(keys, nanoClock);
    PrefillParty prefill = parties.connected().prefilling().prefill(keys);
    ReplayPace pace = ReplayPace.defaults().withConcurrency(plan.concurrency());
    Tally tally = new Tally();
    new Replay(decode, prefill, pace, driver).deliveries(new Requests(requests.iterator())).doOnNext(tally::add)
        .then().block(PATIENCE);
    if (tally.sums().bytesVerified() != readBytes) {
      throw new IllegalStateException(
          "verified bytes must be " + readBytes + " (was " + tally.sums().bytesVerified() + ")");
    }
  }

  /// Puts each block once, without making its bytes.
  private void put(TraceKeys keys) {
    PartyConnection party = parties.connected().prefilling();
    PutSource source = new ProducingSource(party.arena(), SliceShape.Order.LAYER_FIRST, (key, range, memory) -> {});
    BlockTier tier = party.tier();
    long stored = requireNonNull(Flux.fromIterable(firsts).filter(ids -> !ids.isEmpty())
        .flatMap(ids -> tier.put(keys.of(ids), plan.shape(), source), plan.concurrency()).count().block(PATIENCE));
    if (stored != blocks()) {
      throw new IllegalStateException("blocks put must be " + blocks() + " (was " + stored + ")");
    }
  }

  /// Reads the blocks of each request, without a look at their bytes.
  private void get(TraceKeys keys) {
    BlockTier tier = parties.connected().decoding().tier();
    AtomicLong bytes = new AtomicLong();
    Flux.fromIterable(requests)
        .flatMap(request -> slices(tier, keys.of(request.hashIds())).doOnNext(slice -> {
          bytes.addAndGet(slice.bytes());
          slice.close();
        }).then(), plan.concurrency()).then().block(PATIENCE);
    if (bytes.get() != readBytes) {
      throw new IllegalStateException("bytes got must be " + readBytes + " (was " + bytes + ")");
    }
  }

  private Flux<LayerSlice> slices(BlockTier tier, List<BlockKey> keys) {
    return Flux.using(BlockScope::new,
        scope -> tier.lease(keys, OnMiss.SKIP, scope).flatMapMany(lease -> lease.slices(plan.shape(), scope)),
        BlockScope::close);
  }

  /// Makes the bytes of each block once.
  private void make(TraceKeys keys) {
    int made = 0;
    for (List<Long> ids : firsts) {
      for (BlockKey key : keys.of(ids)) {
        KvPattern.fill(key, layout(), all(), piece(made++));
      }
    }
  }

  /// Compares as many bytes as are read, with those of a few blocks that are made before.
  private void compare(List<BlockKey> keys) {
    for (int i = 0; i < readBytes / blockBytes(); i++) {
      if (KvPattern.mismatch(keys.get(i % keys.size()), layout(), all(), piece(i % keys.size())) >= 0) {
        throw new IllegalStateException("bytes must be as made (differ)");
      }
    }
  }

  /// Blocks whose bytes fill the memory.
  private List<BlockKey> made(TraceKeys keys) {
    List<BlockKey> made = keys.of(LongStream.range(0, pieces()).boxed().toList());
    for (int i = 0; i < made.size(); i++) {
      KvPattern.fill(made.get(i), layout(), all(), piece(i));
    }
    return made;
  }

  private BlockLayout layout() {
    return plan.space().layout();
  }

  private GranuleRange all() {
    return GranuleRange.all(layout());
  }

  private int pieces() {
    return (int) (scratch.byteSize() / blockBytes());
  }

  private MemorySegment piece(int number) {
    return scratch.asSlice((long) (number % pieces()) * blockBytes(), blockBytes());
  }

  @Override
  public void close() {
    memory.close();
  }

  /// Requests that are in memory.
  private record Requests(Iterator<TraceRequest> left) implements TraceSource {
    @Override
    public @Nullable TraceRequest next() {
      return left.hasNext() ? left.next() : null;
    }
  }
}
