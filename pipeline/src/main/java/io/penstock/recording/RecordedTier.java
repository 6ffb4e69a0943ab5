package io.penstock.recording;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.session.SessionNumbers;
import io.penstock.block.session.SessionState;
import io.penstock.block.session.SessionUse;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Presence;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierHolds;
import io.penstock.tier.TierHolds.Pin;
import io.penstock.tier.TierHolds.PutTerms;
import io.penstock.tier.TierStat;
import io.penstock.tier.spi.BlockStore;
import io.penstock.tier.spi.ForwardingTier;
import io.penstock.tier.spi.TierInputs;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// A tier whose calls, decisions and answers are recorded in the order of [Turns].
///
/// Questions that change nothing (`match`, `contains`, `locate`, events) pass by. Its readers get what the tier gives,
/// on the same threads, after the turn that made it.
public final class RecordedTier extends ForwardingTier {
  private static final int MOST_PARTIES = 1 << 16;

  private final BlockTier tier;
  private final Turns turns;
  private final int number;
  /// Numbers of parties, the newest; one that was forgotten gets another number. Used in turns.
  private final Map<Object, Long> parties = new LinkedHashMap<>() {
    @Override
    protected boolean removeEldestEntry(Map.Entry<Object, Long> eldest) {
      return size() > MOST_PARTIES;
    }
  };
  private long lastParty;

  /// Makes a tier whose inputs and stores are recorded.
  public interface Opening {
    /// @param inputs for the tier
    /// @param stores the stores of the plan, in order, recorded
    BlockTier open(TierInputs inputs, List<BlockStore> stores);
  }

  private RecordedTier(BlockTier tier, Turns turns, int number) {
    super(tier);
    this.tier = tier;
    this.turns = turns;
    this.number = number;
  }

  /// Opens a tier and records it from its opening on.
  ///
  /// @param number of the tier in the recording
  /// @param words what it is, to open it again when the recording is played
  /// @param inputs of the tier, such as those of the system
  /// @param stores of the tier, fastest first
  public static RecordedTier open(Turns turns, int number, String words, TierInputs inputs, List<BlockStore> stores,
      Opening opening) {
    requireNonNull(words, "words");
    List<BlockStore> recorded = new ArrayList<>(stores.size());
    for (BlockStore store : stores) {
      recorded.add(new RecordedStore(turns, number, recorded.size(), store));
    }
    RecordedEvent opened = RecordedEvent.of(Kind.OPENED, 0).ofTier(number).with(words);
    BlockTier tier = turns.call(() -> turns.tellsChecksums() ? opened.with(1) : opened,
        () -> opening.open(new RecordedInputs(turns, number, inputs), List.copyOf(recorded)));
    return new RecordedTier(tier, turns, number);
  }

  private RecordedEvent event(Kind kind, long flow) {
    return RecordedEvent.of(kind, flow).ofTier(number);
  }

  private List<BlockKey> distinct(List<BlockKey> keys) {
    return BlockKey.distinct(keys, info().space().id());
  }

  /// A lease like others: a recording knows no other.
  @Override
  public Mono<Lease> peek(List<BlockKey> keys, BlockScope scope) {
    return lease(keys, OnMiss.SKIP, scope);
  }

  @Override
  public Mono<Lease> lease(List<BlockKey> keys, OnMiss onMiss, BlockScope scope) {
    return lease(keys, onMiss, null, scope);
  }

  @Override
  public Mono<Lease> lease(List<BlockKey> keys, OnMiss onMiss, @Nullable SessionUse session, BlockScope scope) {
    List<BlockKey> asked = distinct(keys);
    requireNonNull(onMiss, "onMiss");
    return leased(flow -> event(Kind.LEASE, flow).with(SessionNumbers.behind(session, onMiss.ordinal())).with(asked),
        inner -> tier.lease(asked, onMiss, session, inner), scope);
  }

  @Override
  public Mono<Boolean> session(SessionUse session, SessionState state) {
    return TurnStream.mono(turns, number,
        flow -> event(Kind.SESSION, flow).with(SessionNumbers.behind(session, state.ordinal())),
        () -> tier.session(session, state), (flow, known) -> known);
  }

  /// A lease that the tier answers into a scope of its own.
  private Mono<Lease> leased(LongFunction<RecordedEvent> cause,
      Function<BlockScope, Mono<Lease>> call, BlockScope scope) {
    return TurnStream.mono(turns, number, cause, () -> call.apply(new BlockScope()),
        new TurnStream.Passage<Lease, Lease>() {
          @Override
          public Lease sent(long flow, Lease lease) {
            turns.add(event(Kind.LEASED, flow).with(Bits.of(lease.hits(), lease.found(), lease.admitted(),
                lease.awaited())));
            return new RecordedLease(turns, number, flow, lease);
          }

          @Override
          public void handOver(Lease lease) {
            scope.adopt(lease);
          }

          @Override
          public void drop(Lease lease) {
            lease.close();
          }
        });
  }

  @Override
  public Mono<Reservation> reserve(List<BlockKey> keys, BlockScope scope) {
    return reserve(keys, PutTerms.plain(), scope);
  }

  @Override
  public Mono<Reservation> reserve(List<BlockKey> keys, PutTerms terms, BlockScope scope) {
    List<BlockKey> asked = distinct(keys);
    BlockScope inner = new BlockScope();
    Mono<Reservation> reserved = tier.reserve(asked, terms, inner); // refuses terms that it does not keep
    Pin pin = terms.pin();
    return TurnStream.mono(turns, number, flow -> event(Kind.RESERVE, flow).with(asked).with(terms.group())
        .with(SessionNumbers.behind(terms.session(), pin == null ? -1 : pin.kind().ordinal(),
            pin == null ? 0 : pin.life().toNanos(), terms.upserts() ? 1 : 0)),
        () -> reserved, new TurnStream.Passage<Reservation, Reservation>() {
          @Override
          public Reservation sent(long flow, Reservation granted) {
            List<BlockDraft> drafts = granted.drafts();
            turns.add(event(Kind.RESERVED, flow).with(drafts.stream().map(BlockDraft::key).toList())
                .with(drafts.stream().mapToLong(BlockDraft::slot).toArray()));
            return new RecordedReservation(turns, number, flow, granted);
          }

          @Override
          public void handOver(Reservation granted) {
            scope.adopt(granted);
          }

          @Override
          public void drop(Reservation granted) {
            granted.close();
          }
        });
  }

  @Override
  public Mono<Presence> remove(List<BlockKey> keys) {
    List<BlockKey> asked = distinct(keys);
    return TurnStream.answer(turns, number, flow -> event(Kind.REMOVE, flow).with(asked), () -> tier.remove(asked),
        (fact, removed) -> fact.with(Bits.of(removed)), Kind.PRESENCE);
  }

  @Override
  public TierHolds holds(Object party) {
    long[] flow = new long[1];
    TierHolds holds = turns.call(() -> {
      flow[0] = turns.newFlow();
      return event(Kind.HOLDS, flow[0]).with(parties.computeIfAbsent(party, each -> lastParty++));
    }, () -> tier.holds(requireNonNull(parties.get(party))));
    return new RecordedHolds(turns, number, flow[0], holds, this::leased);
  }

  @Override
  public Mono<TierStat> stat() {
    return TurnStream.mono(turns, number, flow -> event(Kind.STAT, flow), tier::stat, (flow, stat) -> stat);
  }

  /// Runs a call of the tier that ends what has expired.
  public void expire(Runnable expiry) {
    turns.run(() -> event(Kind.EXPIRE, 0), expiry);
  }

  @Override
  public Mono<Void> close() {
    return TurnStream.end(turns, number, flow -> event(Kind.SHUT, flow), tier::close);
  }

  /// Bits of presences as numbers: for each its words, with the number of words before them.
  static final class Bits {
    private Bits() {}

    static long[] of(Presence... presences) {
      long[][] words = new long[presences.length][];
      int size = presences.length;
      for (int i = 0; i < words.length; i++) {
        BitSet bits = presences[i].bits();
        words[i] = bits.toLongArray();
        size += words[i].length;
      }
      long[] all = new long[size];
      int next = 0;
      for (long[] each : words) {
        all[next++] = each.length;
        System.arraycopy(each, 0, all, next, each.length);
        next += each.length;
      }
      return all;
    }
  }
}
