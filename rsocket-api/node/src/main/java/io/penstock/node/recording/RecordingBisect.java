package io.penstock.node.recording;

import io.penstock.recording.Difference;
import io.penstock.recording.Player;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.recording.check.Bisection;
import io.penstock.recording.check.Rule;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.function.LongConsumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// Finds the first event after which an invariant of a recording is broken.
///
/// An invariant that each event can be asked for takes one play, or one reading: it finds also what holds again later.
/// One that is asked of the state of the tiers takes a bisection.
final class RecordingBisect {
  private final Path place;
  private final Player.World world;
  private final LongConsumer played;

  /// @param first number of the event, or of the first event of the turn, after which it is broken
  /// @param end number after the last event of the turn
  /// @param what is broken
  /// @param plays that the search took
  record Found(long first, long end, String what, long plays) {}

  /// @param played gets the number of events of each play
  RecordingBisect(Path place, Player.World world, LongConsumer played) {
    this.place = place;
    this.world = world;
    this.played = played;
  }

  /// Where the played tiers first differ from the recording.
  Optional<Found> equal() {
    return Recordings.read(place, reader -> {
      Player.Outcome outcome;
      try (Player player = new Player(reader, world, reader.payloads())) {
        outcome = player.play();
      }
      played.accept(outcome.events());
      Difference difference = outcome.difference();
      return difference == null
          ? Optional.empty()
          : Optional.of(new Found(difference.number(), difference.number() + 1, difference.toString(), 1));
    });
  }

  /// Where the recording first breaks a rule. A rule about its end is broken after the last event.
  Optional<Found> rule(Rule rule) {
    return Recordings.read(place, reader -> {
      Rule.Checker checker = rule.begin();
      long number = 0;
      for (; reader.hasNext(); number++) {
        String broken = checker.broken(reader.next());
        if (broken != null) {
          return Optional.of(new Found(number, number + 1, broken, 1));
        }
      }
      String broken = checker.brokenAtEnd();
      played.accept(number);
      return broken == null ? Optional.empty() : Optional.of(new Found(number - 1, number, broken, 1));
    });
  }

  /// The first turn at whose end a stream waits although its bytes are there.
  Optional<Found> wakeUp() {
    return Recordings.read(place, reader -> {
      WakeUps wakeUps = new WakeUps();
      ArrayDeque<RecordedEvent> turn = new ArrayDeque<>();
      long number = 0;
      while (reader.hasNext()) {
        RecordedEvent event = reader.next();
        if (event.kind() == Kind.GAP) { // what is there of the last turn may not be all
          played.accept(number);
          return Optional.empty();
        }
        String broken = event.begins() ? wakeUps.broken() : null;
        if (broken != null) {
          return Optional.of(new Found(number - turn.size(), number, broken, 1));
        }
        if (event.begins()) {
          turn.clear();
        }
        turn.add(event);
        wakeUps.add(event);
        number++;
      }
      played.accept(number);
      String broken = turn.isEmpty() ? null : wakeUps.broken(); // a run that hangs ends so
      return broken == null
          ? Optional.empty()
          : Optional.of(new Found(number - turn.size(), number,
              broken + ", in the last turn: unless the recording was cut within it", 1));
    });
  }

  /// The first turn after which the state of the tiers is no longer as it must be.
  ///
  /// @param name of the invariant, for what is reported
  Optional<Found> state(String name, Predicate<PlayedState> holds) {
    PlayedState[] last = new PlayedState[1];
    Bisection bisection = new Bisection(new RecordingProbe(place, world, state -> {
      boolean good = holds.test(state);
      last[0] = good ? last[0] : state;
      return good;
    }, played));
    return bisection.find().map(found -> new Found(found.first(), found.end(),
        name + " is broken after the turn" + suffix(last[0]), bisection.plays()));
  }

  private static String suffix(@Nullable PlayedState state) {
    return state == null ? "" : ", " + state.events() + " events after the beginning";
  }
}
