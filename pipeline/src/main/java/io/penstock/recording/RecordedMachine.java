package io.penstock.recording;

import static java.util.Objects.requireNonNull;

import io.penstock.recording.RecordedEvent.Kind;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// A state machine beside the tiers, in their order: what comes from outside begins a turn, and what the machine makes
/// of it are facts. Safe from any thread.
public final class RecordedMachine {
  private final Turns turns;
  private final int number;

  /// @param number of the machine among those of its kind
  public RecordedMachine(Turns turns, int number) {
    this.turns = requireNonNull(turns, "turns");
    this.number = number;
  }

  /// An event of this machine.
  ///
  /// @param text empty for none
  public RecordedEvent event(Kind kind, String text, long... numbers) {
    return RecordedEvent.of(kind, 0).ofTier(number).with(numbers).with(text);
  }

  /// Runs `work` as a turn that `cause` begins, or inside the turn of this thread.
  ///
  /// @param cause called in the turn
  public <T extends @Nullable Object> T turn(Supplier<RecordedEvent> cause, Supplier<T> work) {
    return turns.call(cause, work::get);
  }

  /// Adds a fact of the turn.
  public void fact(RecordedEvent fact) {
    turns.add(fact);
  }

  /// Runs `work`, which calls others, when the turn has ended; at once outside a turn.
  public void afterwards(Runnable work) {
    turns.afterwards(work);
  }

  /// Whether this thread is in a turn.
  public boolean isInTurn() {
    return turns.isInTurn();
  }

  /// The event that comes next in the recording that is played; null if none is. In a turn.
  public @Nullable RecordedEvent next() {
    return turns.next();
  }

  /// A machine that is played.
  public interface Played {
    /// Gives an input again, with which a turn begins.
    void give(RecordedEvent input);
  }
}
