package io.penstock.tier;

import io.penstock.operator.Demand;
import io.penstock.operator.SerialLoop;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;

/// A subscription without a queue: when there is demand, its stream looks for elements that are ready. Counts the
/// demand; a [SerialLoop] lets one thread emit at a time. Safe from any thread.
@SuppressWarnings("this-escape") // the loop calls a subclass after the constructor has returned
public abstract class DemandLoop implements Subscription {
  private final AtomicLong requested = new AtomicLong();
  private final SerialLoop loop = new SerialLoop(this::turn, this::fail);
  /// False until `onSubscribe` has returned: no signal precedes it.
  private volatile boolean isOpen;
  private volatile @Nullable Throwable misuse;

  @Override
  public final void request(long n) {
    if (n <= 0) {
      misuse = Demand.refusal(n);
    } else {
      requested.accumulateAndGet(n, Demand::plus);
    }
    drain();
  }

  /// Emits what is ready: on this thread, or on the thread that emits now.
  public final void drain() {
    loop.run();
  }

  /// Allows signals. The stream calls this right after `onSubscribe`.
  public final void open() {
    isOpen = true;
    drain();
  }

  private void turn() {
    Throwable refused = misuse;
    if (isOpen && refused != null) {
      fail(refused);
    }
    if (isOpen) {
      emit();
    }
  }

  /// Emits the elements that are ready, as far as there is demand. One thread at a time.
  public abstract void emit();

  /// Ends the stream with `error`, unless it has ended. A request for less than one element fails it, and so does what
  /// [#emit] throws.
  public abstract void fail(Throwable error);

  public final boolean isWanted() {
    return misuse == null && requested.get() > 0;
  }

  /// Takes one element off the demand.
  public final void spend() {
    requested.updateAndGet(n -> Demand.minus(n, 1));
  }
}
