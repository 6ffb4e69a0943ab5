package io.penstock.tier;

import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.tier.slice.DraftWindow;
import java.util.BitSet;
import java.util.List;
import reactor.core.publisher.Mono;

/// Room for one window of a put: a run of the request's keys, a draft for each key that the tier wants, and one commit
/// of all these.
///
/// The reservation stays its owner's. Used by one thread at a time.
public final class PutRoom {
  private final Reservation reservation;
  private final Presence wanted;
  private final DraftWindow drafts;

  /// @param number of the window in the put
  /// @param first position of the first key of `run`
  /// @param reservation of `run`
  public PutRoom(int number, int first, List<BlockKey> run, Reservation reservation) {
    this.reservation = reservation;
    this.drafts = new DraftWindow(number);
    BitSet asked = new BitSet(run.size());
    int next = 0; // drafts come in key order
    for (BlockDraft draft : reservation.drafts()) {
      int position = position(draft.key(), run, next);
      asked.set(position);
      drafts.add(first + position, draft);
      next = position + 1;
    }
    this.wanted = Presence.of(run.size(), asked);
  }

  /// Position of `key` in `run`: as a rule behind `from`.
  private static int position(BlockKey key, List<BlockKey> run, int from) {
    int size = run.size();
    for (int looked = 0, i = from; looked < size; looked++, i++) {
      int position = i < size ? i : i - size;
      if (run.get(position).equals(key)) {
        return position;
      }
    }
    throw new IllegalArgumentException("drafts must be of reserved keys (was one of " + key + ")");
  }

  /// Keys of the run that the tier wants.
  public Presence wanted() {
    return wanted;
  }

  /// The drafts into which the slices land.
  public DraftWindow drafts() {
    return drafts;
  }

  /// Keys of the run that the tier has: their put is done.
  public Presence duplicates() {
    return reservation.duplicates();
  }

  /// True if the tier wants no key of the run.
  public boolean isEmpty() {
    return wanted.count() == 0;
  }

  /// The error to report when a slice could not land because of `failure`: the reason why the tier took the room back,
  /// if it did.
  ///
  /// @param tier its name
  public RuntimeException causeOf(IllegalStateException failure, String tier) {
    if (!reservation.isClosed()) {
      return failure;
    }
    return reservation.failure() instanceof RuntimeException why ? why : new TierClosedException(tier);
  }

  /// Commits all blocks in one step, in the order of the request.
  ///
  /// @throws io.penstock.block.IncompleteBlockException if a granule did not come; nothing is committed then
  public Mono<List<Receipt>> commit() {
    drafts.requireComplete(0);
    return reservation.commit(List.copyOf(drafts.drafts()));
  }
}
