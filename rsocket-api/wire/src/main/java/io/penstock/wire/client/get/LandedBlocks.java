package io.penstock.wire.client.get;

import io.penstock.block.BlockScope;
import io.penstock.operator.Demand;
import io.penstock.wire.slice.LandedSlice;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;

/// Blocks that have all landed, in one slice, and wait for their reader. They are kept until they are taken, or the
/// lease ends. Safe from any thread.
final class LandedBlocks implements LandedStream {
  private enum State {
    KEPT, READING, EMITTING, OVER
  }

  private final int startLayer;
  private final BlockScope scope;
  private final @Nullable LandedSlice slice;
  private final AtomicReference<State> state = new AtomicReference<>(State.KEPT);
  private volatile @Nullable CoreSubscriber<? super LandedSlice> reader;

  /// @param scope owns the drafts of `slice`; taken over
  /// @param slice null if there are no blocks
  LandedBlocks(int startLayer, BlockScope scope, @Nullable LandedSlice slice) {
    this.startLayer = startLayer;
    this.scope = scope;
    this.slice = slice;
  }

  @Override
  public int startLayer() {
    return startLayer;
  }

  /// All blocks, whose drafts the caller seals before it calls [#end]; null if there are none.
  ///
  /// @throws RuntimeException if they were read before, or the lease has ended
  @Nullable LandedSlice take() {
    if (!state.compareAndSet(State.KEPT, State.READING)) {
      throw state.get() == State.OVER ? GetReceiver.leaseEnded() : readBefore();
    }
    return slice;
  }

  private static IllegalStateException readBefore() {
    return new IllegalStateException("lease must be read once (was read before)");
  }

  @Override
  public void read(CoreSubscriber<? super LandedSlice> subscriber) {
    try {
      take();
    } catch (RuntimeException e) {
      Operators.error(subscriber, e);
      return;
    }
    reader = subscriber;
    subscriber.onSubscribe(new Reading(subscriber));
    if (slice == null && ends(State.READING)) {
      subscriber.onComplete();
    }
  }

  /// True for the one who ends it from `before`.
  private boolean ends(State before) {
    boolean first = state.compareAndSet(before, State.OVER);
    if (first) {
      scope.close();
    }
    return first;
  }

  @Override
  public void end() {
    CoreSubscriber<? super LandedSlice> to = reader;
    if (ends(State.READING) && to != null) {
      to.onError(GetReceiver.leaseEnded());
    } else if (!ends(State.EMITTING)) { // else the emitting thread says so
      ends(State.KEPT);
    }
  }

  /// Emits the slice when it is asked for.
  private final class Reading implements Subscription {
    private final CoreSubscriber<? super LandedSlice> to;
    private volatile boolean isCancelled;

    private Reading(CoreSubscriber<? super LandedSlice> to) {
      this.to = to;
    }

    @Override
    public void request(long n) {
      if (n <= 0) {
        if (ends(State.READING)) {
          to.onError(Demand.refusal(n));
        }
      } else if (slice != null && state.compareAndSet(State.READING, State.EMITTING)) {
        to.onNext(slice);
        if (ends(State.EMITTING)) {
          to.onComplete();
        } else if (!isCancelled) {
          to.onError(GetReceiver.leaseEnded());
        }
      }
    }

    @Override
    public void cancel() {
      isCancelled = true;
      if (!ends(State.READING)) {
        ends(State.EMITTING);
      }
    }
  }
}
