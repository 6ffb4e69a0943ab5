package io.penstock.tier;

import io.penstock.operator.Serial;

/// Keeps part of the host level free, so that a burst of writes finds room without waiting for the disk: above the high
/// watermark blocks are demoted, until the low watermark.
///
/// Each decision between the marks has at most [#STEPS] steps follow, each a decision of its own over a few blocks. So
/// no decision is long, and others decide in between. No step adds to a write queue of the disk that is full, or
/// evicts blocks because the slower levels take none now. Used in decisions only.
final class HostWatermarks {
  /// Blocks of one step.
  private static final int STEP = 32;
  private static final int STEPS = 4;
  /// Decisions until the next try, when every block was held.
  private static final int PAUSE = 256;

  private final StackState state;
  private final StackOptions.Tiering options;
  private final boolean isOn;
  /// Counts each request, as a loop would not: every decision has its own steps.
  private final Serial steps = new Serial();
  private boolean demoting;
  private boolean stepping;
  private int pause;
  private long demoted;

  HostWatermarks(StackState state) {
    this.state = state;
    this.options = state.shape().options().tiering();
    this.isOn = state.shape().host() >= 0 && !state.shape().options().exact() && options.memoryHigh() < 1;
  }

  /// Blocks that left memory because of the watermarks.
  long demoted() {
    return demoted;
  }

  /// Whether `blocks` more would pass the high watermark, or the capacity.
  boolean wouldPass(long blocks) {
    double most = isOn ? options.memoryHigh() * capacity() : capacity();
    return state.index().onHostLevel() + blocks > most;
  }

  private long capacity() {
    return state.index().capacity(state.shape().host());
  }

  /// Has steps follow the decision that ends, if there are blocks to demote.
  void review(DeferredActions after) {
    if (!isOn || stepping || state.isClosed()) {
      stepping = false;
    } else if (pause > 0) {
      pause--;
    } else {
      demoting = state.index().onHostLevel() > (demoting ? options.memoryLow() : options.memoryHigh()) * capacity();
      if (demoting) {
        after.then(() -> steps.run(this::steps));
      }
    }
  }

  private void steps() {
    for (int i = 0; i < STEPS && state.answer(this::step); i++) {
    }
  }

  /// @return whether another step may follow
  private boolean step(DeferredActions after) {
    stepping = true;
    double beyond = state.index().onHostLevel() - options.memoryLow() * capacity();
    int wanted = (int) Math.min(Math.min(STEP, state.offloads().free()), Math.ceil(beyond));
    if (wanted <= 0 || state.isClosed() || !hasRoomBelow()) {
      return false;
    }
    int left = state.index().demoteFromHost(wanted, after);
    demoted += left;
    pause = left == 0 ? PAUSE : 0;
    return left == STEP;
  }

  /// Whether a slower level takes blocks now, or there is none, so that memory is all there is.
  private boolean hasRoomBelow() {
    int host = state.shape().host();
    for (int level = host + 1; level <= state.shape().last(); level++) {
      if (state.stores().takes(level)) {
        return true;
      }
    }
    return host == state.shape().last();
  }
}
