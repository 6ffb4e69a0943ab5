package io.penstock.stack.move;

import io.penstock.operator.Serial;
import io.penstock.stack.decision.Decisions;
import io.penstock.stack.decision.DeferredActions;
import io.penstock.stack.decision.StackFigures;
import io.penstock.stack.ledger.LevelStates;
import io.penstock.stack.ledger.StackIndex;
import io.penstock.stack.shape.StackOptions;
import io.penstock.stack.shape.StackShape;

/// Keeps part of the host level free, so that a burst of writes finds room without waiting for the disk: above the high
/// watermark blocks are demoted, until the low watermark.
///
/// Each decision between the marks has at most [#STEPS] steps follow, each a decision of its own over a few blocks. So
/// no decision is long, and others decide in between. No step adds to a write queue of the disk that is full, or
/// evicts blocks because the slower levels take none now. Used in decisions only, except [#empty()].
public final class HostWatermarks {
  /// Blocks of one step.
  private static final int STEP = 32;
  private static final int STEPS = 4;
  /// Decisions until the next try, when every block was held.
  private static final int PAUSE = 256;

  private final Decisions decisions;
  private final StackShape shape;
  private final StackIndex index;
  private final LevelStates states;
  private final OffloadQueue offloads;
  private final StackFigures figures;
  private final StackOptions.Tiering options;
  private final boolean isOn;
  /// Counts each request, as a loop would not: every decision has its own steps.
  private final Serial steps = new Serial();
  private boolean demoting;
  private boolean stepping;
  private int pause;
  /// All blocks are to go.
  private boolean empties;

  public HostWatermarks(Decisions decisions, StackShape shape, StackIndex index, LevelStates states,
      OffloadQueue offloads, StackFigures figures) {
    this.decisions = decisions;
    this.shape = shape;
    this.index = index;
    this.states = states;
    this.offloads = offloads;
    this.figures = figures;
    this.options = shape.options().tiering();
    this.isOn = shape.host() >= 0 && !shape.options().exact() && options.memoryHigh() < 1;
  }

  /// Whether `blocks` more would pass the high watermark, or the capacity.
  boolean wouldPass(long blocks) {
    double most = isOn ? options.memoryHigh() * capacity() : capacity();
    return index.onHostLevel() + blocks > most;
  }

  private long capacity() {
    return index.capacity(shape.host());
  }

  /// Demotes all blocks, whatever the marks, as the slower levels take them. Not with [StackOptions#exact()], where
  /// each eviction is one of a put. Outside a decision.
  public void empty() {
    if (shape.host() >= 0 && !shape.options().exact()) {
      decisions.decide(after -> {
        empties = true;
        pause = 0;
      });
    }
  }

  /// Has steps follow the decision that ends, if there are blocks to demote.
  public void review(DeferredActions after) {
    if ((!isOn && !empties) || stepping || decisions.isClosed()) {
      stepping = false;
    } else if (pause > 0) {
      pause--;
    } else {
      demoting = index.onHostLevel() > (demoting || empties ? low() : options.memoryHigh()) * capacity();
      if (demoting) {
        after.then(() -> steps.run(this::steps));
      }
    }
  }

  private double low() {
    return empties ? 0 : options.memoryLow();
  }

  private void steps() {
    for (int i = 0; i < STEPS && decisions.answer(this::step); i++) {
    }
  }

  /// @return whether another step may follow
  private boolean step(DeferredActions after) {
    stepping = true;
    double beyond = index.onHostLevel() - low() * capacity();
    int wanted = (int) Math.min(Math.min(STEP, offloads.free()), Math.ceil(beyond));
    if (wanted <= 0 || decisions.isClosed() || !hasRoomBelow()) {
      return false;
    }
    int left = index.demoteFromHost(wanted, after);
    figures.demotedByMark(empties ? 0 : left);
    pause = left == 0 ? PAUSE : 0;
    return left == STEP;
  }

  /// Whether a slower level takes blocks now, or there is none, so that memory is all there is.
  private boolean hasRoomBelow() {
    int host = shape.host();
    for (int level = host + 1; level <= shape.last(); level++) {
      if (states.takes(level)) {
        return true;
      }
    }
    return host == shape.last();
  }
}
