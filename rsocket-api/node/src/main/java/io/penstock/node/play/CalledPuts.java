package io.penstock.node.play;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.GranuleRange;
import io.penstock.block.session.SessionNumbers;
import io.penstock.recording.Payloads;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierHolds.Pin;
import io.penstock.tier.TierHolds.PutTerms;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// Gives the reservations and commits of a recording to a tier, and puts the blocks that only this tier misses. One
/// thread.
final class CalledPuts {
  private final VirtualTime time;
  private final RecordedTimes times;
  private final CallFigures figures;
  private final Payloads payloads = Payloads.ofKeys();
  private final Map<Long, Put> puts = new HashMap<>();

  CalledPuts(VirtualTime time, RecordedTimes times, CallFigures figures) {
    this.time = time;
    this.times = times;
    this.figures = figures;
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

  void reserve(BlockTier tier, RecordedEvent begin) {
    Put put = new Put();
    puts.put(begin.flow(), put);
    PutTerms terms = PutTerms.plain().withGroup(begin.text()).withUpserts(begin.number(2) == 1)
        .withSession(SessionNumbers.read(begin.size(), begin::number, 3));
    PutTerms whole = begin.number(0) < 0 ? terms : terms.withPin(pin(begin.number(0), begin.number(1)));
    tier.reserve(begin.keys(), whole, put.scope).subscribe(put.reservation::set, error -> figures.refused());
  }

  static Pin pin(long kind, long life) {
    return new Pin(Pin.Kind.values()[(int) kind], Duration.ofNanos(life));
  }

  void commit(RecordedEvent begin) {
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
    reservation.commit(drafts).doFinally(end -> then.run()).subscribe(receipts -> {}, error -> figures.refused());
  }

  /// Puts blocks that the recorded tiers had, and these do not.
  void putLater(BlockTier tier, List<BlockKey> keys) {
    int most = times.putBlocks();
    for (int from = 0; from < keys.size(); from += most) {
      List<BlockKey> some = List.copyOf(keys.subList(from, Math.min(keys.size(), from + most)));
      time.after(times.untilPut(), () -> {
        BlockScope scope = new BlockScope();
        tier.reserve(some, scope).subscribe(
            reservation -> time.after(times.untilCommit(), () -> commit(reservation, Set.copyOf(some), scope::close)),
            error -> {
              figures.refused();
              scope.close();
            });
      });
    }
  }

  /// Notes the keys of the drafts that the recorded reservation got.
  void reserved(RecordedEvent fact) {
    requireNonNull(puts.get(fact.flow()), "reservation").recorded = fact.keys();
  }

  /// Closes the reservation of this flow.
  ///
  /// @return whether the flow is a reservation
  boolean close(long flow) {
    Put put = puts.get(flow);
    if (put != null) {
      put.closing = true;
      put.closeIfDone();
    }
    return put != null;
  }
}
