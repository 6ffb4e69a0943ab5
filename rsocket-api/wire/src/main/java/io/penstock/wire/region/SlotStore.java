package io.penstock.wire.region;

import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.GranuleRange;
import io.penstock.budget.BudgetExhaustedException;
import io.penstock.tier.PutRoom;
import io.penstock.tier.Receipt;
import io.penstock.tier.Reservation;
import io.penstock.tier.Reservation.RoomTimeoutException;
import io.penstock.tier.TierHolds.PutTerms;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import reactor.core.publisher.Mono;

/// Stores the bytes of slots as blocks: window after window it waits for blocks of windows, then for memory of the
/// tier, then for bytes of the budget, as puts do; reads the slots, and commits. Without room in time it stores no
/// more.
final class SlotStore {
  private final SlotJob job;
  private final PutTerms terms;
  private int next;
  private int number;

  SlotStore(SlotJob job) {
    this.job = job;
    this.terms = PutTerms.plain().withSession(job.session);
  }

  /// For one subscriber.
  Mono<RegionMessages.SlotsReply> reply() {
    return Mono.defer(this::window).repeat(() -> next < job.keys.size()).then()
        .onErrorResume(SlotStore::isFull, full -> Mono.empty())
        .then(Mono.fromSupplier(() -> job.reply(SlotJob.NO_ROOM)));
  }

  private static boolean isFull(Throwable error) {
    return error instanceof RoomTimeoutException || error instanceof BudgetExhaustedException
        || error instanceof TimeoutException;
  }

  private Mono<Void> window() {
    job.proceed();
    if (next == job.keys.size()) {
      return Mono.empty();
    }
    Permit blocks = new Permit(job.terms().windows(), 1);
    return job.limited(blocks.granted()).then(Mono.defer(() -> reserved(blocks))).doFinally(any -> blocks.dispose());
  }

  private Mono<Void> reserved(Permit blocks) {
    int most = Math.min(job.windowBlocks(), job.keys.size() - next);
    int more = (int) job.terms().windows().takeUpTo(most - 1L);
    if (!blocks.add(more)) {
      return Mono.empty();
    }
    int first = next;
    next += 1 + more;
    List<BlockKey> run = job.keys.subList(first, next);
    return job.limited(job.tier.reserve(run, terms, job.scope)).flatMap(
        room -> filled(first, run.size(), new PutRoom(number++, first, run, room)).doFinally(any -> room.close()));
  }

  private Mono<Void> filled(int first, int size, PutRoom room) {
    for (int i = 0; i < size; i++) {
      if (room.duplicates().get(i)) {
        job.done(first + i);
      } else if (!room.wanted().get(i)) {
        job.failed(first + i, SlotJob.TAKEN);
      }
    }
    return room.isEmpty()
        ? Mono.empty()
        : job.copied(() -> fill(room), true).then(Mono.defer(room::commit))
            .onErrorMap(IllegalStateException.class, e -> room.causeOf(e, job.tier.info().name()))
            .doOnNext(receipts -> stored(first, size, room, receipts)).then();
  }

  private void fill(PutRoom room) {
    for (int i = 0; i < room.drafts().drafts().size(); i++) {
      BlockDraft draft = room.drafts().drafts().get(i);
      GranuleRange all = GranuleRange.all(draft.layout());
      int slot = job.slot(room.drafts().position(i));
      draft.write(all, memory -> job.region().read(slot, memory, job.terms().sliceBytes(), job.scope::isClosed));
      job.count(); // throws if not all of it was copied
      draft.produced(all);
    }
  }

  private void stored(int first, int size, PutRoom room, List<Receipt> receipts) {
    receipts.forEach(receipt -> job.done(room.drafts().position(receipt.key())));
    IntStream.range(first, first + size).filter(job::isOpen).forEach(lost -> job.failed(lost, SlotJob.TAKEN));
  }
}
