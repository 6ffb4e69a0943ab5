package io.penstock.flow;

import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.GranuleRange;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Receipt;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierHolds.PutTerms;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;

/// Writes a value that lies in its head alone, as [ValueWriter] does, without the operators of one that has parts.
/// Cold.
final class OneBlockWriter<T> extends Mono<T> {
  private final BlockTier tier;
  private final ValueHead head;
  private final BlockKey key;
  private final PutTerms terms;
  private final ValueStore.Filling bytes;
  private final @Nullable Mono<Void> last;
  private final T stored;

  /// @param head of a value without parts, of at least one byte
  /// @param key of `head`
  /// @param last run when all bytes have come, just before the head is committed; null for nothing
  /// @param stored emitted when the head was committed; none is if another writer has committed one first
  OneBlockWriter(BlockTier tier, ValueHead head, BlockKey key, PutTerms terms, ValueStore.Filling bytes,
      @Nullable Mono<Void> last, T stored) {
    this.tier = tier;
    this.head = head;
    this.key = key;
    this.terms = terms;
    this.bytes = bytes;
    this.last = last;
    this.stored = stored;
  }

  @Override
  public void subscribe(CoreSubscriber<? super T> subscriber) {
    subscriber.onSubscribe(new Writing(subscriber));
  }

  private final class Writing extends Steps<T> {
    private final GranuleRange all = GranuleRange.all(head.space().layout());
    private final BlockScope scope = new BlockScope();
    private volatile BlockDraft.@Nullable Span filling;
    private @Nullable Reservation room;
    private boolean isCommitted;

    Writing(CoreSubscriber<? super T> subscriber) {
      super(subscriber);
    }

    @Override
    void begin() {
      tier.reserve(List.of(key), terms, scope).subscribe(new Reserving());
    }

    @Override
    void free() {
      BlockDraft.Span open = filling;
      if (open != null) {
        open.close();
      }
      scope.close();
    }

    private void inStep(Runnable work) {
      try {
        work.run();
      } catch (RuntimeException | Error e) { // of a draft that a cancel closed, or a stack that has ended
        fail(e);
      }
    }

    private void fill(Reservation reserved) {
      room = reserved;
      if (reserved.drafts().isEmpty()) {
        succeed(null);
        return;
      }
      BlockDraft draft = reserved.drafts().getFirst();
      draft.write(all, head::write);
      BlockDraft.Span span = draft.writing(all);
      filling = span;
      if (isOver()) {
        span.close();
        return;
      }
      long from = head.tailOffset();
      ValueStore.fillLast(bytes, span.memory(), from, from + head.tailBytes())
          .subscribe(new Filling(reserved, draft, span));
    }

    private final class Reserving extends Step<Reservation> {
      @Override
      public void onNext(Reservation reserved) {
        inStep(() -> fill(reserved));
      }

      @Override
      public void onComplete() {
        if (room == null) {
          succeed(null);
        }
      }
    }

    private final class Filling extends Step<Void> {
      private final Reservation reserved;
      private final BlockDraft draft;
      private final BlockDraft.Span span;

      Filling(Reservation reserved, BlockDraft draft, BlockDraft.Span span) {
        this.reserved = reserved;
        this.draft = draft;
        this.span = span;
      }

      @Override
      public void onComplete() {
        inStep(() -> {
          span.close();
          draft.produced(all);
          if (last == null) {
            commit(reserved);
          } else {
            last.subscribe(new Last(reserved));
          }
        });
      }
    }

    private void commit(Reservation reserved) {
      reserved.commit(reserved.drafts()).subscribe(new Committing());
    }

    private final class Last extends Step<Void> {
      private final Reservation reserved;

      Last(Reservation reserved) {
        this.reserved = reserved;
      }

      @Override
      public void onComplete() {
        inStep(() -> commit(reserved));
      }
    }

    private final class Committing extends Step<List<Receipt>> {
      @Override
      public void onNext(List<Receipt> receipts) {
        isCommitted = !receipts.isEmpty();
      }

      @Override
      public void onComplete() {
        succeed(isCommitted ? stored : null);
      }
    }
  }
}
