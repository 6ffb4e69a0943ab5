package io.penstock.recording.check;

import static java.util.Objects.requireNonNull;

import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.recording.check.Rule.Checker;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// States what a recording must be like, and verifies it, as `StepVerifier` does for a stream:
///
/// ```java
/// RecordingVerifier.of(recording.events())
///     .requestsAtMost("load", 16)
///     .noElementAfterCancel("load")
///     .everyStreamEnds()
///     .verify();
/// ```
///
/// A rule about a flow that was never subscribed fails, and so does a recording with a gap: it would prove nothing.
/// One thread; each instance is used once.
public final class RecordingVerifier {
  /// Events that a failure shows before the one that broke a rule, and after it.
  private static final int BEFORE = 8;
  private static final int AFTER = 2;

  private final List<RecordedEvent> events;
  private final List<Rule> rules = new ArrayList<>();

  private RecordingVerifier(List<RecordedEvent> events) {
    this.events = List.copyOf(events);
  }

  /// @param events of a recording from its beginning, such as
  ///     [MemoryRecording#events][io.penstock.recording.MemoryRecording#events]
  public static RecordingVerifier of(List<RecordedEvent> events) {
    return new RecordingVerifier(events);
  }

  /// The recording keeps `rule`.
  public RecordingVerifier keeps(Rule rule) {
    rules.add(requireNonNull(rule, "rule"));
    return this;
  }

  /// The recording keeps each of [Rules#all()].
  public RecordingVerifier keepsAll() {
    rules.addAll(Rules.all());
    return this;
  }

  /// The readers of `flow` never have more than `most` requested elements to come.
  public RecordingVerifier requestsAtMost(String flow, long most) {
    return keeps(Rules.outstanding(known(flow), most));
  }

  /// No element comes after a reader of `flow` has left. For flows of one thread, such as those of virtual time.
  public RecordingVerifier noElementAfterCancel(String flow) {
    return noElementAfterCancel(flow, 0);
  }

  /// At most `underWay` elements come after a reader of `flow` has left.
  ///
  /// @param underWay 1 where readers leave on another thread than that of the source
  public RecordingVerifier noElementAfterCancel(String flow, int underWay) {
    Set<Long> subscriptions = subscriptions(known(flow));
    return keeps(Rules.rule("cancel:" + flow, () -> {
      Checker cancel = new CancelRule(underWay);
      return event -> subscriptions.contains(event.flow()) ? cancel.broken(event) : null;
    }));
  }

  /// Each stream completes or fails, or its reader leaves.
  public RecordingVerifier everyStreamEnds() {
    return keeps(Rules.named("stream-ends"));
  }

  /// Each lease, window and reservation of a recorded tier is closed.
  public RecordingVerifier everyHandleCloses() {
    return keeps(Rules.named("handles"));
  }

  /// Slices of each window come in order, each once.
  public RecordingVerifier layersInOrder() {
    return keeps(Rules.named("layers"));
  }

  /// The subscriptions of `flow` had `count` elements, all together.
  public RecordingVerifier hasElements(String flow, long count) {
    Set<Long> subscriptions = subscriptions(known(flow));
    return keeps(Rules.rule("elements:" + flow, () -> new Checker() {
      private long seen;

      @Override
      public @Nullable String broken(RecordedEvent event) {
        if (event.kind() == Kind.FLOW_NEXT && subscriptions.contains(event.flow()) && ++seen > count) {
          return "flow \"%s\" must have %d elements (has one more)".formatted(flow, count);
        }
        return null;
      }

      @Override
      public @Nullable String brokenAtEnd() {
        return seen < count ? "flow \"%s\" must have %d elements (had %d)".formatted(flow, count, seen) : null;
      }
    }));
  }

  private String known(String flow) {
    if (subscriptions(flow).isEmpty()) {
      throw new AssertionError("flow \"%s\" must be in the recording (has %s)".formatted(flow, flows()));
    }
    return flow;
  }

  private Set<Long> subscriptions(String flow) {
    Set<Long> subscriptions = new HashSet<>();
    events.stream().filter(event -> event.kind() == Kind.FLOW && event.text().equals(flow))
        .forEach(event -> subscriptions.add(event.flow()));
    return subscriptions;
  }

  private List<String> flows() {
    return events.stream().filter(event -> event.kind() == Kind.FLOW).map(RecordedEvent::text).distinct().sorted()
        .toList();
  }

  /// Verifies all rules.
  ///
  /// @throws AssertionError that names the first event that breaks a rule, with the events around it
  public void verify() {
    if (rules.isEmpty()) {
      throw new IllegalStateException("a verifier must have rules (has none)");
    }
    List<Checker> checkers = rules.stream().map(Rule::begin).toList();
    for (int i = 0; i < events.size(); i++) {
      RecordedEvent event = events.get(i);
      if (event.kind() == Kind.GAP) {
        throw new AssertionError("recording must be whole (%d events are missing from event %d on)"
            .formatted(event.number(0), i));
      }
      for (int rule = 0; rule < checkers.size(); rule++) {
        String broken = checkers.get(rule).broken(event);
        if (broken != null) {
          throw failure(rules.get(rule), "at event " + i, broken, i);
        }
      }
    }
    for (int rule = 0; rule < checkers.size(); rule++) {
      String broken = checkers.get(rule).brokenAtEnd();
      if (broken != null) {
        throw failure(rules.get(rule), "at its end", broken, events.size());
      }
    }
  }

  private AssertionError failure(Rule rule, String place, String broken, int at) {
    StringBuilder text = new StringBuilder("recording must keep rule %s (was broken %s: %s)".formatted(rule.name(),
        place, broken));
    for (int i = Math.max(0, at - BEFORE); i < Math.min(events.size(), at + 1 + AFTER); i++) {
      text.append(i == at ? "\n> " : "\n  ").append("event ").append(i).append(": ").append(events.get(i));
    }
    return new AssertionError(text.toString());
  }
}
