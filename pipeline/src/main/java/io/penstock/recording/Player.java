package io.penstock.recording;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSlice;
import io.penstock.block.LayerSpan;
import io.penstock.block.Owned;
import io.penstock.block.SlabArena.ChunkSource;
import io.penstock.block.SliceShape;
import io.penstock.block.session.SessionNumbers;
import io.penstock.block.session.SessionState;
import io.penstock.check.Uncaught;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.LeasedWindow;
import io.penstock.tier.Medium;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Receipt.Durability;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierHolds;
import io.penstock.tier.TierHolds.KeyFilter;
import io.penstock.tier.TierHolds.LeaseTerms;
import io.penstock.tier.TierHolds.Pin;
import io.penstock.tier.TierHolds.PutTerms;
import io.penstock.tier.TierStat;
import io.penstock.tier.spi.BlockStore;
import io.penstock.tier.spi.TierInputs;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.SignalType;

/// Plays a recording on one thread: opens its tiers again, gives them the recorded inputs in order, and compares all
/// that they do with what was recorded.
///
/// The tiers are the same code on a clock, stores and readers that the recording drives. So whatever happened, however
/// many threads took part, happens again.
///
/// A player holds memory as its tiers do, until it is closed.
public final class Player implements AutoCloseable {
  /// Makes the tiers of a recording.
  public interface World {
    /// The stores of the tier that `opened` describes, fastest first.
    List<PlayedStoreSpec> stores(RecordedEvent opened);

    /// Opens the tier.
    BlockTier open(RecordedEvent opened, TierInputs inputs, List<BlockStore> stores);

    /// Ends what has expired.
    void expire(BlockTier tier);

    /// Makes the machine beside the tiers that `begin` describes; its making is a turn with this event.
    default RecordedMachine.Played machine(RecordedEvent begin, RecordedMachine recorded) {
      throw new RecordingFormatException("recording", "of tiers alone", "with " + begin);
    }
  }

  /// What a tier knows of a store.
  ///
  /// @param capacityBlocks slots; `Long.MAX_VALUE` if their number is not fixed
  public record PlayedStoreSpec(String name, Medium medium, CacheSpace space, Durability durability,
      long capacityBlocks) {}

  /// Follows a playing, on its thread.
  public interface Follower {
    /// Decides whether the next turn is played; the playing ends before the first turn that is not. Called between
    /// turns.
    ///
    /// @param first number of its first event in the recording, from 0
    /// @param last number of its last event
    /// @param begin the first event
    default boolean plays(long first, long last, RecordedEvent begin) {
      return true;
    }

    /// Receives an event of the recording, before its turn is played.
    default void recorded(RecordedEvent event) {}

    /// Receives an event that the played tiers made. Events that the recording was cut off before are left out.
    default void played(RecordedEvent event) {}
  }

  /// How a playing ended.
  ///
  /// @param turns that were played
  /// @param events that were equal
  /// @param difference the first; null if there is none
  /// @param gap whether events are missing in the recording, which was played up to there
  /// @param stopped whether the follower ended it
  public record Outcome(long turns, long events, @Nullable Difference difference, boolean gap, boolean stopped) {}

  private final World world;
  private final Payloads payloads;
  private final Comparison comparison;
  private final Turns turns;
  private final BlockScope scope = new BlockScope();
  private final Map<Integer, RecordedMachine.Played> machines = new HashMap<>();
  private final Map<Integer, PlayedTier> tiers = new HashMap<>();
  private final Map<Long, Reader> readers = new HashMap<>();
  private final Map<Long, Owned> handles = new HashMap<>();
  private long played;

  /// A tier, its stores, and what its readers hold and its writers write, by slot.
  private record PlayedTier(RecordedTier tier, List<PlayedStore> stores, BlockTier plain,
      Map<Long, List<Owned>> held, Map<Long, BlockDraft> drafts) {}

  public Player(Iterator<RecordedEvent> recording, World world, Payloads payloads) {
    this(recording, world, payloads, new Follower() {});
  }

  public Player(Iterator<RecordedEvent> recording, World world, Payloads payloads, Follower follower) {
    this.world = requireNonNull(world, "world");
    this.payloads = requireNonNull(payloads, "payloads");
    this.comparison = new Comparison(recording, requireNonNull(follower, "follower"));
    this.turns = new Turns(comparison::nanos, comparison);
  }

  /// Plays to the end, to the first difference, or as far as the follower wants.
  public Outcome play() {
    Difference difference = null;
    boolean wanted = true;
    for (RecordedEvent begin = comparison.nextTurn(); begin != null; begin = comparison.nextTurn()) {
      wanted = comparison.isWanted();
      if (!wanted) {
        break;
      }
      difference = step(begin);
      played++;
      if (difference != null) {
        break;
      }
    }
    comparison.end();
    return new Outcome(played, comparison.count(), difference, comparison.hasGap(), !wanted);
  }

  /// The figures of the open tiers, by their numbers. Ends the playing: what has expired ends first. For the follower,
  /// when it ends the playing, and after [#play()].
  public Map<Integer, TierStat> stats() {
    comparison.end();
    Map<Integer, TierStat> stats = new TreeMap<>();
    tiers.forEach((number, tier) -> tier.plain().stat().subscribe(stat -> stats.put(number, stat), closed -> {}));
    return stats;
  }

  /// Ends the playing, wherever it stopped: readers leave, handles are closed, tiers end and give their memory back.
  /// Idempotent.
  @Override
  public void close() {
    comparison.end();
    List.copyOf(readers.values()).forEach(Reader::cancel);
    tiers.values().forEach(tier -> {
      tier.stores().forEach(PlayedStore::end);
      tier.held().values().forEach(held -> held.forEach(Owned::close));
      tier.drafts().values().forEach(BlockDraft::close);
    });
    List.copyOf(handles.values()).forEach(Owned::close);
    scope.close();
    tiers.values().forEach(tier -> tier.plain().close().subscribe(ended -> {}, Uncaught::report));
    tiers.clear();
    machines.clear();
    handles.clear();
  }

  private @Nullable Difference step(RecordedEvent begin) {
    try {
      letGo();
      give(begin);
      return comparison.endOfTurn();
    } catch (RuntimeException e) {
      Difference before = comparison.endOfTurn();
      if (before != null && begin.kind() != Kind.OPENED) {
        return before;
      }
      throw e;
    }
  }

  /// Closes the readers' handles on slots that came back within the turn: its readers had closed theirs before.
  private void letGo() {
    for (RecordedEvent fact : comparison.turn()) {
      if (fact.kind() == Kind.SLOT && !fact.begins()) {
        close(played(fact), fact.number(0)); // of another tier, if they share memory
      }
    }
  }

  private static void close(PlayedTier tier, long slot) {
    List<Owned> held = tier.held().remove(slot);
    if (held != null) {
      held.forEach(Owned::close);
    }
  }

  private void give(RecordedEvent begin) {
    switch (begin.kind()) {
      case OPENED -> open(begin);
      case LEASE -> read(begin, tier(begin).lease(begin.keys(), OnMiss.values()[number(begin, 0)],
          SessionNumbers.read(begin.size(), begin::number, 1), scope));
      case READ -> read(begin, holds(begin).read(begin.number(1), begin.keys(), scope));
      case WINDOWS -> read(begin, lease(begin, 2).windows(number(begin, 1), scope));
      case SLICED_WINDOWS -> read(begin, lease(begin, 5).slicedWindows(new SliceShape(number(begin, 1),
          number(begin, 2), SliceShape.Order.values()[number(begin, 3)], number(begin, 4)), scope));
      case SLICES -> read(begin, window(begin).slices(number(begin, 1)));
      case BLOCKS -> read(begin, window(begin).blocks(scope));
      case REQUEST -> reader(begin).request(begin.number(0));
      case CANCEL -> reader(begin).cancel();
      case CLOSE -> requireNonNull(handles.get(begin.flow()), "handle").close();
      case RESERVE -> read(begin, tier(begin).reserve(begin.keys(), terms(begin), scope));
      case COMMIT -> commit(begin);
      case REMOVE -> read(begin, tier(begin).remove(begin.keys()));
      case HOLDS -> handles.put(begin.flow(), tier(begin).holds(begin.number(0)));
      case HOLD -> read(begin, holds(begin).lease(begin.keys(), new LeaseTerms(Duration.ofNanos(begin.number(1)),
          begin.number(2) == 1, begin.number(3) == 1, begin.number(4) == 1,
          begin.size() > 5 ? begin.number(5) : 0)));
      case RELEASE -> read(begin, holds(begin).release(begin.number(1)));
      case PIN -> read(begin, holds(begin).pin(begin.keys(), pin(begin.number(1), begin.number(2))));
      case TAKE -> read(begin, holds(begin).remove(begin.keys(), begin.number(1) == 1));
      case SWEEP -> read(begin, holds(begin).remove(new KeyFilter(null, key -> {
        RecordedEvent next = comparison.next();
        return next != null && next.kind() == Kind.TAKEN && next.key().equals(key);
      }), begin.number(1) == 1));
      case EXPIRE -> tier(begin).expire(() -> world.expire(played(begin).plain()));
      case STAT -> read(begin, tier(begin).stat());
      case SESSION -> read(begin, tier(begin).session(
          requireNonNull(SessionNumbers.read(begin.size(), begin::number, 1), "session"),
          SessionState.values()[number(begin, 0)]));
      case SLOT -> slot(begin);
      case STORE_DONE -> store(begin).done(begin.number(1));
      case STORE_FAILED -> store(begin).failed(begin);
      case STORE_ROOM -> store(begin).room(begin.number(1));
      case STORE_EVICT -> store(begin).evict(number(begin, 1));
      case STORE_HEALTH -> store(begin).health(PlayedStore.healthOf(begin));
      case STORE_DAMAGED -> store(begin).damaged(begin.key());
      case SHUT -> read(begin, tier(begin).close());
      case REQUESTS ->
        machines.put(begin.tier(), world.machine(begin, new RecordedMachine(turns, begin.tier())));
      case REQUEST_OPEN, REQUEST_SIGNAL, REQUEST_MOVED, REQUEST_WITHDRAW, REQUEST_LOOK, REQUEST_FREED ->
        requireNonNull(machines.get(begin.tier()), "machine").give(begin);
      case BEGAN, FLOW, FLOW_REQUEST, FLOW_NEXT, FLOW_CANCEL, FLOW_COMPLETE, FLOW_ERROR, TIMER, LINK, BROKEN ->
        turns.run(() -> begin, () -> {});
      default -> throw new IllegalStateException("a turn must begin with an input (was " + begin + ")");
    }
  }

  private void open(RecordedEvent begin) {
    List<PlayedStoreSpec> specs = world.stores(begin);
    List<PlayedStore> stores = new ArrayList<>(specs.size());
    for (PlayedStoreSpec spec : specs) {
      stores.add(new PlayedStore(spec, stores.size(), turns, payloads));
    }
    BlockTier[] plain = new BlockTier[1];
    RecordedTier tier = RecordedTier.open(turns, begin.tier(), begin.text(), inputs(), List.copyOf(stores),
        (inputs, recorded) -> {
          plain[0] = world.open(begin, inputs, recorded);
          return plain[0];
        });
    tiers.put(begin.tier(), new PlayedTier(tier, stores, plain[0], new HashMap<>(), new HashMap<>()));
  }

  /// Draws and holds of the recording.
  private TierInputs inputs() {
    ChunkSource chunks = ChunkSource.ofSystem();
    return new TierInputs() {
      @Override
      public long nanos() {
        return comparison.nanos();
      }

      @Override
      public long draw() {
        RecordedEvent next = comparison.next();
        return next != null && next.kind() == Kind.DRAW ? next.number(0) : 0;
      }

      @Override
      public ChunkSource chunks() {
        return chunks;
      }

      @Override
      public boolean isHeld(Block block) {
        RecordedEvent next = comparison.next();
        return next != null && next.kind() == Kind.HELD && next.number(1) == 1;
      }
    };
  }

  private PlayedTier played(RecordedEvent event) {
    return requireNonNull(tiers.get(event.tier()), "tier");
  }

  private RecordedTier tier(RecordedEvent event) {
    return played(event).tier();
  }

  private PlayedStore store(RecordedEvent event) {
    return played(event).stores().get(number(event, 0));
  }

  private static int number(RecordedEvent event, int i) {
    return Math.toIntExact(event.number(i));
  }

  private Lease lease(RecordedEvent event, int verifies) {
    Lease lease = (Lease) requireNonNull(handles.get(event.number(0)), "lease");
    return event.number(verifies) == 1 ? lease : lease.unverified();
  }

  private LeasedWindow window(RecordedEvent event) {
    return (LeasedWindow) requireNonNull(handles.get(event.number(0)), "window");
  }

  private TierHolds holds(RecordedEvent event) {
    return (TierHolds) requireNonNull(handles.get(event.number(0)), "holds");
  }

  private Reader reader(RecordedEvent event) {
    return requireNonNull(readers.get(event.flow()), "reader");
  }

  private static PutTerms terms(RecordedEvent event) {
    PutTerms terms = PutTerms.plain().withGroup(event.text()).withUpserts(event.number(2) == 1);
    terms = terms.withSession(SessionNumbers.read(event.size(), event::number, 3));
    return event.number(0) < 0 ? terms : terms.withPin(pin(event.number(0), event.number(1)));
  }

  private static Pin pin(long kind, long life) {
    return new Pin(Pin.Kind.values()[Math.toIntExact(kind)], Duration.ofNanos(life));
  }

  private void commit(RecordedEvent begin) {
    int count = comparison.keepsPayloads() ? (begin.size() - 1) / 2 : begin.size() - 1;
    Reservation reservation = (Reservation) requireNonNull(handles.get(begin.number(0)), "reservation");
    List<BlockDraft> drafts = new ArrayList<>(count);
    for (int i = 1; i <= count; i++) {
      long place = begin.number(i);
      BlockDraft draft = reservation.drafts().get(Math.toIntExact(place < 0 ? -1 - place : place));
      if (place >= 0 && !draft.isClosed()) {
        payloads.fill(draft, GranuleRange.all(draft.layout()),
            comparison.keepsPayloads() ? begin.number(count + i) : Payloads.UNKNOWN);
      }
      drafts.add(draft);
    }
    read(begin, reservation.commit(drafts));
  }

  /// A slot comes back: its readers close their handles, or the writer closes its draft.
  private void slot(RecordedEvent begin) {
    close(played(begin), begin.number(0));
    RecordedEvent next = comparison.next();
    if (next != null && next.equals(begin)) { // no reader had it
      BlockDraft draft = played(begin).drafts().get(begin.number(0));
      if (draft != null) {
        draft.close();
      }
    }
  }

  private <T> void read(RecordedEvent begin, Publisher<T> stream) {
    Reader reader = new Reader(begin);
    readers.put(begin.flow(), reader);
    stream.subscribe(reader);
  }

  /// A reader that asks and leaves when the recording does, and keeps what it gets until the recording says otherwise.
  private final class Reader extends BaseSubscriber<Object> {
    private final RecordedEvent begin;

    Reader(RecordedEvent begin) {
      this.begin = begin;
    }

    @Override
    protected void hookOnSubscribe(Subscription subscription) {
      switch (begin.kind()) {
        case WINDOWS, SLICED_WINDOWS, SLICES, SWEEP -> {
          // Demand comes with the recording
        }
        default -> requestUnbounded();
      }
    }

    @Override
    protected void hookOnNext(Object element) {
      switch (element) {
        case RecordedLease lease -> handles.put(lease.flow(), lease);
        case RecordedWindow window -> handles.put(window.flow(), window);
        case RecordedReservation reservation -> {
          handles.put(reservation.flow(), reservation);
          reservation.drafts().forEach(draft -> played(begin).drafts().put((long) draft.slot(), draft));
        }
        case LayerSlice slice -> slice.spans().forEach(this::hold);
        case List<?> blocks -> blocks.forEach(each -> {
          if (each instanceof LeasedBlock leased) {
            hold(leased.block(), leased.block().slot());
          }
        });
        default -> {
          // An answer, which is compared already
        }
      }
    }

    private void hold(LayerSpan span) {
      hold(span, span.slot());
    }

    private void hold(Owned handle, long slot) {
      played(begin).held().computeIfAbsent(slot, each -> new ArrayList<>()).add(handle);
    }

    @Override
    protected void hookOnError(Throwable error) {
      // Compared already
    }

    @Override
    protected void hookFinally(SignalType type) {
      readers.remove(begin.flow());
    }
  }
}
