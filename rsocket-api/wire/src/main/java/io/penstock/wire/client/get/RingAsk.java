package io.penstock.wire.client.get;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.BlockKey;
import io.penstock.carrier.ClientRing;
import io.penstock.carrier.LeasedMemory;
import io.penstock.wire.client.link.AnswerLimit;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;

/// One request through a read ring: asks for each of its keys, and gets an answer for all of them or none. Safe from
/// any thread.
final class RingAsk implements AnswerLimit.Pending, Disposable {
  /// Maximum number of keys of a request: more of them go over the connection, with windows.
  static final int MOST_KEYS = 16;

  private final AnswerLimit answers;
  private final @Nullable LeasedMemory[] leased;
  private final Consumer<@Nullable List<LeasedMemory>> decided;
  private final AnswerLimit.Silence silence = new AnswerLimit.Silence();
  @GuardedBy("this") private int missing;
  @GuardedBy("this") private boolean isWhole = true;
  /// Whether the caller has stopped waiting: later answers are given back.
  @GuardedBy("this") private boolean over;

  /// @param decided called once: a block for each key, in order and then owned by it, or null if the ring does not have
  ///     all of them, or is silent; it runs on the ring's thread, the timers' or the caller's
  RingAsk(AnswerLimit answers, int keys, Consumer<@Nullable List<LeasedMemory>> decided) {
    this.answers = answers;
    this.leased = new LeasedMemory[keys];
    this.missing = keys;
    this.decided = decided;
  }

  void ask(ClientRing ring, List<BlockKey> keys) {
    answers.enter(this);
    if (!ring.ask(keys, this::answered)) {
      for (int i = 0; i < keys.size(); i++) {
        answered(i, null);
      }
    }
  }

  private void answered(int position, @Nullable LeasedMemory block) {
    boolean isLast;
    synchronized (this) {
      leased[position] = block;
      isWhole &= block != null;
      missing--;
      isLast = missing == 0;
    }
    if (isLast) {
      decide();
    }
  }

  private void decide() {
    boolean gives;
    boolean hears;
    synchronized (this) {
      hears = !over;
      gives = !over && isWhole;
      over = true;
    }
    answers.leave(this);
    if (!gives) {
      giveBack();
    }
    if (hears) {
      decided.accept(gives ? all() : null);
    }
  }

  @SuppressWarnings("NullAway") // whole
  private synchronized List<LeasedMemory> all() {
    return List.of(leased);
  }

  private synchronized void giveBack() {
    for (LeasedMemory each : leased) {
      if (each != null) {
        each.close();
      }
    }
  }

  /// Stops waiting.
  @Override
  public void dispose() {
    synchronized (this) {
      over = true;
    }
    answers.leave(this);
  }

  @Override
  public void look() {
    boolean tooLong;
    synchronized (this) {
      tooLong = !over && silence.isTooLong(missing > 0, 1);
      over |= tooLong;
    }
    if (tooLong) {
      answers.leave(this);
      decided.accept(null);
    }
  }
}
