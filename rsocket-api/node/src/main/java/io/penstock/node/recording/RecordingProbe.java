package io.penstock.node.recording;

import io.penstock.node.cli.DataException;
import io.penstock.node.play.EventView;
import io.penstock.node.play.TierWatch;
import io.penstock.node.play.TurnTime;
import io.penstock.recording.Difference;
import io.penstock.recording.Player;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.recording.check.Bisection;
import io.penstock.storage.recording.RecordingReader;
import io.penstock.tier.TierStat;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.LongConsumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// Plays the first events of a recording and asks whether an invariant holds then.
final class RecordingProbe implements Bisection.Probe {
  private final Path place;
  private final Player.World world;
  private final Predicate<PlayedState> holds;
  private final LongConsumer played;

  /// @param world that makes the tiers
  /// @param played gets the number of events of each play
  RecordingProbe(Path place, Player.World world, Predicate<PlayedState> holds, LongConsumer played) {
    this.place = place;
    this.world = world;
    this.holds = holds;
    this.played = played;
  }

  @Override
  public Bisection.Played play(long events) {
    Playing playing = Recordings.read(place, reader -> new Playing(events).play(reader));
    PlayedState state = playing.state();
    Difference difference = playing.difference;
    if (difference != null) {
      throw new DataException("recording %s must play equally, so that its tiers can be asked (--with equal shows: %s)"
          .formatted(place, difference));
    }
    played.accept(state.events());
    return new Bisection.Played(state.events(), playing.following, holds.test(state));
  }

  /// One play.
  private final class Playing implements Player.Follower {
    private final long most;
    private final TierWatch watch = new TierWatch();
    private final TurnTime time = new TurnTime();
    private final List<EventView> turn = new ArrayList<>();
    private @Nullable Player player;
    private @Nullable Difference difference;
    private Map<Integer, TierStat> stats = Map.of();
    private boolean stopped;
    private long number;
    private long events;
    private long following;
    private long nanos;
    private long recovered;

    Playing(long most) {
      this.most = most;
    }

    Playing play(RecordingReader reader) {
      try (Player made = new Player(reader, world, reader.payloads(), this)) {
        player = made;
        difference = made.play().difference();
        if (!stopped) {
          stats = made.stats();
        }
      }
      return this;
    }

    PlayedState state() {
      return new PlayedState(place.toString(), events, nanos, difference == null, Objects.toString(difference, null),
          recovered, List.copyOf(turn), watch.states(stats));
    }

    @Override
    public boolean plays(long first, long last, RecordedEvent begin) {
      following = last + 1;
      if (following > most) {
        stats = Objects.requireNonNull(player).stats();
        stopped = true;
        return false;
      }
      turn.clear();
      number = first;
      events = following;
      return true;
    }

    @Override
    public void recorded(RecordedEvent event) {
      nanos = time.of(event);
      recovered += event.kind() == Kind.RECOVERED ? 1 : 0;
      turn.add(EventView.of(number++, event));
    }

    @Override
    public void played(RecordedEvent event) {
      watch.add(event);
    }
  }
}
