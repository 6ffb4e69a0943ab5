package io.penstock.node.play;

import static java.util.Objects.requireNonNull;

import io.penstock.block.SlabArena.ChunkSource;
import io.penstock.block.session.SessionNumbers;
import io.penstock.block.session.SessionState;
import io.penstock.node.tiers.PlayedTiers;
import io.penstock.recording.Payloads;
import io.penstock.recording.Player.PlayedStoreSpec;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Medium;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierHolds;
import io.penstock.tier.TierHolds.LeaseTerms;
import io.penstock.tier.spi.BlockStore;
import io.penstock.tier.spi.TierInputs;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/// Gives the calls of a recording to tiers that may answer otherwise, in virtual time. One thread.
///
/// - Calls come at the recorded times: leases, reservations, commits, removals, pins, read leases, expiries.
/// - Windows are requested as they were; what a stream has left when the recorded one ended is requested at once. A
///   window is read whole. A lease is closed when it was, or when its streams have ended.
/// - A block that the recording had and these tiers miss is put by its caller after the median time, as the recorded
///   misses were.
final class RecordedCalls {
  private static final long SEED = 32;

  private final VirtualTime time = new VirtualTime();
  private final RecordedTimes times;
  private final PlayedTiers world;
  private final Payloads payloads = Payloads.ofKeys();
  private final Random random = new Random(SEED);
  private final Map<Integer, Tier> tiers = new TreeMap<>();
  private final Map<Long, TierHolds> holds = new HashMap<>();
  /// Read leases by the identity that the recording has for them.
  private final Map<Long, Later<Long>> readLeases = new HashMap<>();
  private final Map<Long, Later<Long>> heldBy = new HashMap<>();
  private final CallFigures figures = new CallFigures();
  private final CalledPuts puts;
  private final CalledReads reads;

  /// A tier and its stores.
  private record Tier(BlockTier tier, List<ModelStore> stores, RecordedEvent opened) {}

  RecordedCalls(RecordedTimes times, PlayedTiers world) {
    this.times = times;
    this.world = world;
    this.puts = new CalledPuts(time, times, figures);
    this.reads = new CalledReads(time, times, figures, puts);
  }

  /// Gives the calls of one turn.
  void turn(List<RecordedEvent> turn) {
    RecordedEvent begin = turn.getFirst();
    time.advanceTo(begin.at());
    call(begin, turn);
    for (RecordedEvent fact : turn) {
      fact(fact);
    }
  }

  private void call(RecordedEvent begin, List<RecordedEvent> turn) {
    long flow = begin.flow();
    switch (begin.kind()) {
      case OPENED -> open(begin, turn);
      case LEASE -> reads.lease(tier(begin), turn);
      case READ -> reads.read(begin, heldBy(begin.number(1)), holds(begin));
      case WINDOWS -> reads.windows(begin);
      case SLICED_WINDOWS -> reads.slicedWindows(begin);
      case REQUEST -> reads.request(flow, begin.number(0));
      case CANCEL -> reads.cancel(flow);
      case CLOSE -> close(flow);
      case RESERVE -> puts.reserve(tier(begin), begin);
      case COMMIT -> puts.commit(begin);
      case REMOVE -> run(tier(begin).remove(begin.keys()));
      case HOLDS -> holds.put(flow, tier(begin).holds(begin.number(0)));
      case HOLD -> hold(begin);
      case RELEASE -> heldBy(begin.number(1)).then(id -> run(holds(begin).release(id)));
      case PIN -> run(holds(begin).pin(begin.keys(), CalledPuts.pin(begin.number(1), begin.number(2))));
      case TAKE -> run(holds(begin).remove(begin.keys(), begin.number(1) == 1));
      case SESSION -> run(tier(begin).session(
          requireNonNull(SessionNumbers.read(begin.size(), begin::number, 1), "session"),
          SessionState.values()[(int) begin.number(0)]));
      case EXPIRE -> world.expire(tier(begin));
      case SHUT -> shut(begin.tier());
      default -> {
        // The tiers answer by themselves
      }
    }
  }

  private void fact(RecordedEvent fact) {
    switch (fact.kind()) {
      case ENDED, FAILED -> reads.ended(fact.flow());
      case RESERVED -> puts.reserved(fact);
      case READ_LEASE -> {
        Later<Long> given = readLeases.get(fact.flow());
        if (given != null) {
          given.then(id -> heldBy(fact.number(0)).set(id));
        }
      }
      case TAKEN -> {
        TierHolds party = holds.get(fact.flow());
        if (party != null) {
          run(party.remove(fact.keys(), false));
        }
      }
      default -> {
        // The tiers decide by themselves
      }
    }
  }

  private void open(RecordedEvent opened, List<RecordedEvent> turn) {
    List<ModelStore> stores = new ArrayList<>();
    for (PlayedStoreSpec spec : world.stores(opened)) {
      stores.add(new ModelStore(spec, time, times, payloads,
          turn.stream().filter(fact -> fact.kind() == Kind.RECOVERED && fact.number(1) < 2
              && spec.medium() == Medium.DISK).map(fact -> fact.keys().getFirst()).toList()));
    }
    tiers.put(opened.tier(), new Tier(world.open(opened, inputs(), List.<BlockStore>copyOf(stores)), stores, opened));
  }

  private TierInputs inputs() {
    ChunkSource chunks = ChunkSource.ofSystem();
    return new TierInputs() {
      @Override
      public long nanos() {
        return time.now();
      }

      @Override
      public long draw() {
        return random.nextLong();
      }

      @Override
      public ChunkSource chunks() {
        return chunks;
      }

      @Override
      public void decided(TierEvent event) {
        if (event instanceof TierEvent.Moved) {
          figures.moved();
        }
      }
    };
  }

  private BlockTier tier(RecordedEvent event) {
    return requireNonNull(tiers.get(event.tier()), "tier").tier();
  }

  private TierHolds holds(RecordedEvent event) {
    return requireNonNull(holds.get(event.number(0)), "holds");
  }

  private Later<Long> heldBy(long recordedId) {
    return heldBy.computeIfAbsent(recordedId, id -> new Later<>());
  }

  private void run(Publisher<?> call) {
    Mono.from(call).subscribe(answer -> {}, error -> figures.refused());
  }

  private void close(long flow) {
    TierHolds party = holds.get(flow);
    if (!reads.close(flow) && !puts.close(flow) && party != null) {
      party.close();
    }
  }

  private void hold(RecordedEvent begin) {
    Later<Long> given = new Later<>();
    readLeases.put(begin.flow(), given);
    holds(begin).lease(begin.keys(), new LeaseTerms(Duration.ofNanos(begin.number(1)), begin.number(2) == 1,
        begin.number(3) == 1, begin.number(4) == 1, begin.size() > 5 ? begin.number(5) : 0))
        .subscribe(lease -> given.set(lease.id()), error -> figures.refused());
  }

  private void shut(int number) {
    time.finish();
    Tier tier = tiers.remove(number);
    if (tier == null) {
      return;
    }
    tier.tier().stat().subscribe(figures::add, error -> figures.refused());
    figures.addDiskBytes(tier.stores().stream().filter(store -> store.medium() == Medium.DISK)
        .mapToLong(ModelStore::readBytes).sum());
    tier.tier().close().subscribe();
    time.finish();
  }

  /// Whether a tier was opened.
  boolean hasTiers() {
    return !tiers.isEmpty();
  }

  /// Ends all, and reports what the tiers did.
  TierFigures finish() {
    List.copyOf(tiers.keySet()).forEach(this::shut);
    return figures.figures(reads.unanswered());
  }
}
