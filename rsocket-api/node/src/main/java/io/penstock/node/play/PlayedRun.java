package io.penstock.node.play;

import static java.util.Objects.requireNonNull;

import io.penstock.node.tiers.PlayedTiers;
import io.penstock.recording.Difference;
import io.penstock.recording.Player;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.recording.check.Rule;
import io.penstock.recording.check.Rules;
import io.penstock.storage.recording.RecordingReader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// Plays one recording once, and keeps what a report needs.
final class PlayedRun implements Player.Follower {
  /// What each stream of a recording promises, whatever made it.
  private static final List<String> RULES = List.of("demand", "cancel", "end-once", "layers", "invariant");
  private static final int MOST_BROKEN = 20;
  /// Turns between two looks at the progress.
  private static final int PROGRESS_TURNS = 1 << 10;

  private final Path folder;
  private final PlayPlan plan;
  private final Clock clock;
  private final LongConsumer progress;
  private final RunDigest recorded = new RunDigest();
  private final RunDigest played = new RunDigest();
  private final @Nullable TierWatch watch;
  private final @Nullable FlowEvents flow;
  private final List<Checked> rules = RULES.stream().map(Rules::named).map(Checked::new).toList();
  private final List<Broken> broken = new ArrayList<>();
  private @Nullable Player player;
  private boolean payloads;
  private long number;
  private long turns;
  private final TurnTime times = new TurnTime();
  private long began;
  private PlayReport.@Nullable Stop stop;
  private List<TierWatch.State> states = List.of();

  /// Time outside a recording.
  interface Clock extends LongSupplier {
    /// Waits until [#getAsLong] has reached `nanos`.
    void await(long nanos);
  }

  /// A rule that a flow broke.
  ///
  /// @param event number of the event; null if the end of the recording showed it
  record Broken(String rule, @Nullable Long event, String what) {}

  private record Checked(Rule rule, Rule.Checker checker) {
    Checked(Rule rule) {
      this(rule, rule.begin());
    }
  }

  /// The events of the chosen flows.
  private static final class FlowEvents {
    private final FlowFamily.Chosen ofRecording;
    private final FlowFamily.Chosen ofPlaying;
    private final RunDigest recorded = new RunDigest();
    private final RunDigest played = new RunDigest();
    private final List<EventView> events = new ArrayList<>();

    FlowEvents(String word) {
      ofRecording = new FlowFamily.Chosen(word);
      ofPlaying = new FlowFamily.Chosen(word);
    }
  }

  /// @param progress gets the number of events played so far, now and then
  PlayedRun(Path folder, PlayPlan plan, Clock clock, LongConsumer progress) {
    this.folder = folder;
    this.plan = plan;
    this.clock = clock;
    this.progress = progress;
    this.watch = plan.breakAt() == null ? null : new TierWatch();
    this.flow = plan.flow() == null ? null : new FlowEvents(plan.flow());
  }

  PlayReport play() {
    Player.Outcome outcome;
    try (RecordingReader events = RecordingReader.open(folder);
        Player made = new Player(events, new PlayedTiers(), events.payloads(), this)) {
      player = made;
      outcome = made.play();
    }
    Difference difference = outcome.difference();
    FlowEvents chosen = flow;
    if (chosen != null && chosen.events.isEmpty() && difference == null) {
      throw new IllegalArgumentException(
          "--flow must be the number or the name of a flow that was played, within the first %,d events (was %s)"
              .formatted(outcome.events(), plan.flow()));
    }
    if (plan.breakAt() != null && stop == null && difference == null) {
      throw new IllegalArgumentException(
          "--break-at must be a place in what can be played, which has %,d events (was %s)"
              .formatted(outcome.events(), plan.breakAt().text()));
    }
    return new PlayReport(folder.toString(), outcome.turns(), outcome.events(), recorded.flows(), recorded.sums(),
        played.sums(), payloads, outcome.gap(), stop, difference == null ? null : context(difference),
        List.copyOf(broken),
        chosen == null
            ? null
            : new PlayReport.Flow(requireNonNull(plan.flow()), chosen.recorded.sums().flows(),
                chosen.played.sums().flows(), chosen.events),
        states);
  }

  private DifferenceView context(Difference difference) {
    try (RecordingReader events = RecordingReader.open(folder)) {
      return DifferenceView.of(difference, events);
    }
  }

  @Override
  public boolean plays(long from, long to, RecordedEvent begin) {
    if (turns++ == 0) {
      began = clock.getAsLong();
    }
    long since = times.of(begin);
    PlayPoint breakAt = plan.breakAt();
    if (breakAt != null && !breakAt.isAfter(to, since)) {
      stop = new PlayReport.Stop(from, since, EventView.of(from, begin));
      states = requireNonNull(watch).states(requireNonNull(player).stats());
      return false;
    }
    PlayPoint until = plan.until();
    if (until != null && !until.isReached(from, since)) {
      stop = new PlayReport.Stop(from, since, EventView.of(from, begin));
      return false;
    }
    if (plan.speed() > 0) {
      clock.await(began + Math.round(since / plan.speed()));
    }
    if (turns % PROGRESS_TURNS == 0) {
      progress.accept(from);
    }
    return true;
  }

  @Override
  public void recorded(RecordedEvent event) {
    recorded.add(event);
    payloads |= event.kind() == Kind.OPENED && event.size() > 0 && event.number(0) == 1;
    for (Checked rule : rules) {
      String what = rule.checker().broken(event);
      if (what != null && broken.size() < MOST_BROKEN) {
        broken.add(new Broken(rule.rule().name(), number, what));
      }
    }
    if (flow != null && flow.ofRecording.has(event)) {
      flow.recorded.add(event);
      flow.events.add(EventView.of(number, event));
    }
    number++;
  }

  @Override
  public void played(RecordedEvent event) {
    played.add(event);
    if (watch != null) {
      watch.add(event);
    }
    if (flow != null && flow.ofPlaying.has(event)) {
      flow.played.add(event);
    }
  }
}
