package io.penstock.recording;

import io.penstock.block.BlockDraft;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.tier.Presence;
import io.penstock.tier.Receipt;
import io.penstock.tier.Reservation;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// A reservation of a tier that is recorded: its commits and its close are turns.
final class RecordedReservation extends Reservation {
  private final Turns turns;
  private final int tier;
  private final long flow;
  private final Reservation reservation;

  RecordedReservation(Turns turns, int tier, long flow, Reservation reservation) {
    this.turns = turns;
    this.tier = tier;
    this.flow = flow;
    this.reservation = reservation;
  }

  long flow() {
    return flow;
  }

  @Override
  public List<BlockDraft> drafts() {
    return reservation.drafts();
  }

  @Override
  public Presence skipped() {
    return reservation.skipped();
  }

  @Override
  public Presence duplicates() {
    return reservation.duplicates();
  }

  @Override
  public @Nullable Throwable failure() {
    return reservation.failure();
  }

  @Override
  public Mono<List<Receipt>> commit(List<BlockDraft> complete) {
    List<BlockDraft> drafts = List.copyOf(complete);
    Mono<List<Receipt>> receipts = TurnStream.answer(turns, tier,
        commit -> RecordedEvent.of(Kind.COMMIT, commit).with(places(drafts)),
        () -> reservation.commit(drafts), (fact, answer) -> fact.with(promises(answer))
            .with(answer.stream().map(Receipt::key).toList()),
        Kind.RECEIPTS);
    return turns.payloads().keeps() ? turns.payloads().committed(drafts).then(receipts) : receipts;
  }

  /// The flow of this reservation, then the places of `complete`, and their checksums if those are told.
  private long[] places(List<BlockDraft> complete) {
    List<BlockDraft> all = reservation.drafts();
    int size = complete.size();
    long[] places = new long[1 + (turns.tellsChecksums() ? 2 * size : size)];
    places[0] = flow;
    for (int i = 0; i < size; i++) {
      BlockDraft draft = complete.get(i);
      int place = all.indexOf(draft);
      places[1 + i] = draft.isComplete() ? place : -1 - place;
      if (places.length > 1 + size) {
        places[1 + size + i] = places[1 + i] < 0 ? Payloads.UNKNOWN : PayloadKeeper.checksum(draft.granuleChecksums());
      }
    }
    return places;
  }

  private static long[] promises(List<Receipt> receipts) {
    long[] promises = new long[2 * receipts.size()];
    for (int i = 0; i < receipts.size(); i++) {
      promises[2 * i] = receipts.get(i).durability().ordinal();
      promises[2 * i + 1] = receipts.get(i).sequence();
    }
    return promises;
  }

  @Override
  protected void free() {
    turns.run(() -> RecordedEvent.of(Kind.CLOSE, flow).ofTier(tier), reservation::close);
  }
}
