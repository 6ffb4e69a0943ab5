package io.penstock.recording.check;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import java.util.Optional;

/// Finds the first turn of a recording after which an invariant is broken, by playing the recording up to one place
/// after another. Each play halves the events in question, however long the turns are, so `log2(events) + 3` plays are
/// enough.
///
/// An invariant that is broken for a while and holds again later may be missed, as in every bisection: the search
/// begins with its end, where the invariant must be broken. One thread.
public final class Bisection {
  private final Probe probe;
  private long plays;

  /// Plays a recording.
  @FunctionalInterface
  public interface Probe {
    /// Plays the turns that end before event `events`, and asks whether the invariant holds then.
    ///
    /// @param events at most so many are played; `Long.MAX_VALUE` for all
    Played play(long events);
  }

  /// What a play found.
  ///
  /// @param events that were played, all of whole turns
  /// @param following events up to the end of the turn that comes next; equal to `events` at the end of the recording
  /// @param holds whether the invariant holds after these events
  public record Played(long events, long following, boolean holds) {
    public Played {
      Checks.notNegative("events", events);
      if (following < events) {
        throw new IllegalArgumentException("following must be >= events, " + events + " (was " + following + ")");
      }
    }
  }

  /// The first turn that breaks the invariant.
  ///
  /// @param first number of its first event, from 0; the invariant holds after the events before it
  /// @param end number after that of its last event; the invariant is broken there
  public record Found(long first, long end) {}

  /// The invariant is broken before the first event: no turn breaks it.
  public static final class BrokenAtStartException extends RuntimeException {
    BrokenAtStartException() {
      super("invariant must hold before the first event (is broken there)");
    }
  }

  public Bisection(Probe probe) {
    this.probe = requireNonNull(probe, "probe");
  }

  /// Searches the whole recording.
  ///
  /// @return empty if the invariant holds after the last event
  /// @throws BrokenAtStartException if the invariant is broken before the first event
  public Optional<Found> find() {
    Played whole = play(Long.MAX_VALUE);
    if (whole.holds()) {
      return Optional.empty();
    }
    Played none = play(0);
    if (!none.holds()) {
      throw new BrokenAtStartException();
    }
    long good = none.events();
    long following = none.following(); // the first place after `good` that can be played to
    long bad = whole.events();
    while (following < bad) {
      Played middle = play(following + (bad - following) / 2);
      if (middle.holds()) {
        good = middle.events();
        following = middle.following();
      } else {
        bad = middle.events();
      }
    }
    return Optional.of(new Found(good, bad));
  }

  private Played play(long events) {
    plays++;
    return probe.play(events);
  }

  /// Plays so far.
  public long plays() {
    return plays;
  }
}
