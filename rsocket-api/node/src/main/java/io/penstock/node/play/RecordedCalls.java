package io.penstock.node.play;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.GranuleRange;
import io.penstock.block.SlabArena.ChunkSource;
import io.penstock.block.SliceShape;
import io.penstock.node.tiers.PlayedTiers;
import io.penstock.pool.session.SessionState;
import io.penstock.recording.Payloads;
import io.penstock.recording.Player.PlayedStoreSpec;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.recording.SessionWords;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.LeasedWindow;
import io.penstock.tier.Medium;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierHolds;
import io.penstock.tier.TierHolds.LeaseTerms;
import io.penstock.tier.TierHolds.Pin;
import io.penstock.tier.TierHolds.PutTerms;
import io.penstock.tier.TierStat;
import io.penstock.tier.spi.BlockStore;
import io.penstock.tier.spi.TierInputs;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;

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
  private final Map<Long, Asked> leases = new HashMap<>();
  private final Map<Long, Reader> readers = new HashMap<>();
  private final Map<Long, Put> puts = new HashMap<>();
  private final Map<Long, TierHolds> holds = new HashMap<>();
  /// Read leases by the identity that the recording has for them.
  private final Map<Long, Later<Long>> readLeases = new HashMap<>();
  private final Map<Long, Later<Long>> heldBy = new HashMap<>();
  private final Set<Asked> open = new HashSet<>();
  private final Map<String, Long> hits = new LinkedHashMap<>();
  private long misses;
  private long evicted;
  private long moved;
  private long diskBytes;
  private long slowest;
  private long failed;

  /// A tier and its stores.
  private record Tier(BlockTier tier, List<ModelStore> stores, RecordedEvent opened) {}

  RecordedCalls(RecordedTimes times, PlayedTiers world) {
    this.times = times;
    this.world = world;
  }

  /// A value that callers may wait for.
  private static final class Later<T> {
    private final List<Consumer<T>> waiting = new ArrayList<>();
    private @Nullable T value;

    void set(T given) {
      value = given;
      waiting.forEach(each -> each.accept(given));
      waiting.clear();
    }

    void then(Consumer<T> work) {
      T given = value;
      if (given == null) {
        waiting.add(work);
      } else {
        work.accept(given);
      }
    }
  }

  /// A lease and its streams.
  private final class Asked {
    private final BlockScope scope = new BlockScope();
    private final Later<Lease> lease = new Later<>();
    private final long at = time.now();
    private long last = at;
    private int streams;
    private boolean wasRead;
    private boolean closing;

    void closeIfDone() {
      if (closing && streams == 0 && open.remove(this)) {
        slowest = Math.max(slowest, last - at);
        lease.then(Lease::close);
        scope.close();
      }
    }
  }

  /// A reservation of the recording.
  private static final class Put {
    private final BlockScope scope = new BlockScope();
    private final Later<Reservation> reservation = new Later<>();
    private List<BlockKey> recorded = List.of();
    private int commits;
    private boolean closing;

    void closeIfDone() {
      if (closing && commits == 0) {
        reservation.then(given -> scope.close());
      }
    }
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
      case LEASE -> asked(flow, begin.keys(), turn, RecordedBits.ADMITTED,
          scope -> tier(begin).lease(begin.keys(), OnMiss.values()[(int) begin.number(0)],
              SessionWords.read(begin, 1), scope));
      case READ -> {
        Asked asked = new Asked();
        leases.put(flow, asked);
        open.add(asked);
        heldBy(begin.number(1)).then(id -> take(asked, holds(begin).read(id, begin.keys(), asked.scope)));
      }
      case WINDOWS -> read(begin, lease -> lease.windows((int) begin.number(1), scopeOf(begin)));
      case SLICED_WINDOWS -> read(begin, lease -> lease.slicedWindows(new SliceShape((int) begin.number(1),
          (int) begin.number(2), SliceShape.Order.values()[(int) begin.number(3)], (int) begin.number(4)),
          scopeOf(begin)));
      case REQUEST -> reader(flow, reader -> reader.ask(begin.number(0)));
      case CANCEL -> reader(flow, Reader::leave);
      case CLOSE -> close(flow);
      case RESERVE -> reserve(begin);
      case COMMIT -> commit(begin);
      case REMOVE -> run(tier(begin).remove(begin.keys()));
      case HOLDS -> holds.put(flow, tier(begin).holds(begin.number(0)));
      case HOLD -> hold(begin);
      case RELEASE -> heldBy(begin.number(1)).then(id -> run(holds(begin).release(id)));
      case PIN -> run(holds(begin).pin(begin.keys(), pin(begin.number(1), begin.number(2))));
      case TAKE -> run(holds(begin).remove(begin.keys(), begin.number(1) == 1));
      case SESSION -> run(tier(begin).session(Objects.requireNonNull(SessionWords.read(begin, 1)),
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
      case ENDED, FAILED -> reader(fact.flow(), Reader::finish);
      case RESERVED -> requireNonNull(puts.get(fact.flow()), "reservation").recorded = fact.keys();
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
          moved++;
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

  private BlockScope scopeOf(RecordedEvent begin) {
    return requireNonNull(leases.get(begin.number(0)), "lease").scope;
  }

  private void run(Publisher<?> call) {
    Mono.from(call).subscribe(answer -> {}, error -> failed++);
  }

  // Reading

  private interface Call {
    Mono<Lease> lease(BlockScope scope);
  }

  private void asked(long flow, List<BlockKey> keys, List<RecordedEvent> turn, int admitted, Call call) {
    Asked asked = new Asked();
    leases.put(flow, asked);
    open.add(asked);
    take(asked, call.lease(asked.scope));
    RecordedEvent answer = turn.stream().filter(fact -> fact.kind() == Kind.LEASED && fact.flow() == flow).findFirst()
        .orElse(null);
    if (answer == null) {
      return;
    }
    RecordedBits recorded = RecordedBits.of(answer, 0);
    boolean admits = OnMiss.values()[(int) turn.getFirst().number(0)] == OnMiss.ADMIT;
    asked.lease.then(lease -> {
      List<BlockKey> more = new ArrayList<>();
      for (int i = 0; i < keys.size(); i++) {
        boolean put = admits
            ? lease.admitted().get(i) && !recorded.has(admitted, i)
            : times.putsMisses() && !lease.hits().get(i) && recorded.has(RecordedBits.HITS, i);
        if (put) {
          more.add(keys.get(i));
        }
      }
      putLater(turn.getFirst(), more);
    });
  }

  private void take(Asked asked, Mono<Lease> lease) {
    lease.subscribe(asked.lease::set, error -> {
      failed++;
      open.remove(asked);
    });
  }

  private void read(RecordedEvent begin, Function<Lease, Publisher<?>> windows) {
    Asked asked = requireNonNull(leases.get(begin.number(0)), "lease");
    Reader reader = new Reader(asked);
    readers.put(begin.flow(), reader);
    asked.streams++;
    asked.wasRead = true;
    asked.lease.then(lease -> windows.apply(lease).subscribe(reader));
  }

  private void reader(long flow, Consumer<Reader> work) {
    Reader reader = readers.get(flow);
    if (reader != null) {
      work.accept(reader);
    }
  }

  private void close(long flow) {
    Asked asked = leases.get(flow);
    Put put = puts.get(flow);
    TierHolds party = holds.get(flow);
    if (asked != null) {
      asked.closing = true;
      if (!asked.wasRead) {
        asked.lease.then(lease -> readAll(asked, lease));
      }
      asked.closeIfDone();
    } else if (put != null) {
      put.closing = true;
      put.closeIfDone();
    } else if (party != null) {
      party.close();
    }
  }

  /// The recorded lease had nothing to read; this one may have.
  private void readAll(Asked asked, Lease lease) {
    if (lease.found().count() > 0) {
      asked.wasRead = true;
      asked.streams++;
      Reader reader = new Reader(asked);
      reader.finish();
      lease.windows(BlockTier.GET_WINDOW, asked.scope).subscribe(reader);
    }
  }

  /// Reads the windows of a lease.
  private final class Reader extends BaseSubscriber<Object> {
    private final Asked asked;
    private long early;
    private boolean subscribed;

    Reader(Asked asked) {
      this.asked = asked;
    }

    @Override
    protected void hookOnSubscribe(Subscription subscription) {
      subscribed = true;
      if (early > 0) {
        request(early);
      }
    }

    void ask(long n) {
      if (n > 0 && subscribed) {
        request(n);
      } else if (n > 0) {
        early = early > Long.MAX_VALUE - n ? Long.MAX_VALUE : early + n;
      }
    }

    /// The recorded stream has ended; this one may have more.
    void finish() {
      ask(Long.MAX_VALUE);
    }

    void leave() {
      if (!isDisposed()) {
        cancel();
      }
    }

    @Override
    protected void hookOnNext(Object element) {
      asked.last = time.now();
      if (element instanceof LeasedWindow window) {
        asked.streams++;
        window.blocks(asked.scope).doFinally(end -> ended()).subscribe(this::drop, error -> failed++);
      } else if (element instanceof List<?> blocks) {
        drop(blocks);
      }
    }

    private void drop(List<?> blocks) {
      asked.last = time.now();
      for (Object each : blocks) {
        ((LeasedBlock) each).block().close();
      }
    }

    @Override
    protected void hookOnError(Throwable error) {
      failed++;
    }

    @Override
    protected void hookFinally(SignalType type) {
      ended();
    }

    private void ended() {
      asked.streams--;
      asked.closeIfDone();
    }
  }

  // Writing

  private void reserve(RecordedEvent begin) {
    Put put = new Put();
    puts.put(begin.flow(), put);
    PutTerms terms = PutTerms.plain().withGroup(begin.text()).withUpserts(begin.number(2) == 1)
        .withSession(SessionWords.read(begin, 3));
    PutTerms whole = begin.number(0) < 0 ? terms : terms.withPin(pin(begin.number(0), begin.number(1)));
    tier(begin).reserve(begin.keys(), whole, put.scope).subscribe(put.reservation::set, error -> failed++);
  }

  private static Pin pin(long kind, long life) {
    return new Pin(Pin.Kind.values()[(int) kind], Duration.ofNanos(life));
  }

  private void commit(RecordedEvent begin) {
    Put put = requireNonNull(puts.get(begin.number(0)), "reservation");
    Set<BlockKey> committed = new HashSet<>();
    for (int i = 1; i < begin.size(); i++) {
      if (begin.number(i) >= 0 && begin.number(i) < put.recorded.size()) {
        committed.add(put.recorded.get((int) begin.number(i)));
      }
    }
    put.commits++;
    put.reservation.then(reservation -> commit(reservation, committed, () -> {
      put.commits--;
      put.closeIfDone();
    }));
  }

  private void commit(Reservation reservation, Set<BlockKey> keys, Runnable then) {
    List<BlockDraft> drafts = reservation.drafts().stream()
        .filter(draft -> keys.contains(draft.key()) && !draft.isClosed()).toList();
    if (drafts.isEmpty()) {
      then.run();
      return;
    }
    drafts.forEach(draft -> payloads.fill(draft, GranuleRange.all(draft.layout()), Payloads.UNKNOWN));
    reservation.commit(drafts).doFinally(end -> then.run()).subscribe(receipts -> {}, error -> failed++);
  }

  /// Puts blocks that the recorded tiers had, and these do not.
  private void putLater(RecordedEvent lease, List<BlockKey> keys) {
    int most = times.putBlocks();
    for (int from = 0; from < keys.size(); from += most) {
      List<BlockKey> some = List.copyOf(keys.subList(from, Math.min(keys.size(), from + most)));
      time.after(times.untilPut(), () -> {
        BlockScope scope = new BlockScope();
        tier(lease).reserve(some, scope).subscribe(
            reservation -> time.after(times.untilCommit(), () -> commit(reservation, Set.copyOf(some), scope::close)),
            error -> {
              failed++;
              scope.close();
            });
      });
    }
  }

  private void hold(RecordedEvent begin) {
    Later<Long> given = new Later<>();
    readLeases.put(begin.flow(), given);
    holds(begin).lease(begin.keys(), new LeaseTerms(Duration.ofNanos(begin.number(1)), begin.number(2) == 1,
        begin.number(3) == 1, begin.number(4) == 1)).subscribe(lease -> given.set(lease.id()), error -> failed++);
  }

  // The end

  private void shut(int number) {
    time.finish();
    Tier tier = tiers.remove(number);
    if (tier == null) {
      return;
    }
    tier.tier().stat().subscribe(this::count, error -> failed++);
    diskBytes += tier.stores().stream().filter(store -> store.medium() == Medium.DISK).mapToLong(ModelStore::readBytes)
        .sum();
    tier.tier().close().subscribe();
    time.finish();
  }

  private void count(TierStat stat) {
    stat.levels().forEach(level -> hits.merge(level.name(), level.hits(), Long::sum));
    misses += stat.misses();
    evicted += stat.evicted();
  }

  /// Whether a tier was opened.
  boolean hasTiers() {
    return !tiers.isEmpty();
  }

  /// Ends all, and reports what the tiers did.
  TierFigures finish() {
    List.copyOf(tiers.keySet()).forEach(this::shut);
    return new TierFigures(hits, misses, evicted, moved, diskBytes, slowest, open.size(), failed);
  }
}
