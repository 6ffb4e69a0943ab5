package io.penstock.stack.ledger;

import io.penstock.stack.decision.Decisions;
import io.penstock.tier.TierEvent;
import java.util.ArrayList;
import java.util.List;

/// Reads snapshots of the visible blocks of a `TierStack` in steps, each under the lock.
public final class StackSnapshots implements SnapshotPage.Source {
  /// Keys of one step.
  private static final int KEYS = 256;

  private final Decisions decisions;
  private final StackIndex index;
  private final LevelStates states;
  private final StackHistory history;
  private final EventLog events;

  public StackSnapshots(Decisions decisions, StackIndex index, LevelStates states, StackHistory history,
      EventLog events) {
    this.decisions = decisions;
    this.index = index;
    this.states = states;
    this.history = history;
    this.events = events;
  }

  @Override
  public SnapshotPage read(int from) {
    return decisions.look(() -> {
      long sequence = events.lastSequence();
      List<TierEvent> step = new ArrayList<>();
      if (from == 0) {
        step.add(new TierEvent.SnapshotStarted(sequence, history.levels(states.down())));
      }
      int next = index.scan(from, KEYS, key -> {
        if (index.told(key) != 0) {
          step.add(new TierEvent.Present(sequence, key, history.levels(index.told(key))));
        }
      });
      if (next < 0) {
        step.add(new TierEvent.SnapshotEnded(sequence));
      }
      return new SnapshotPage(sequence, step, next);
    });
  }
}
