package io.penstock.node.recording;

import io.penstock.node.play.EventView;
import io.penstock.node.play.FlowFamily;
import io.penstock.node.play.PlayPoint;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// The options of a command that choose events. Reads the events of one recording in order.
final class EventFilter {
  @Option(names = "--flow", paramLabel = "N|NAME",
      description = "Only events of this flow and of the flows that came from it; NAME is that of a named flow, or of a"
          + " call, such as lease.")
  private @Nullable String flow;

  @Option(names = "--key", paramLabel = "PREFIX",
      description = "Only events that name a key whose hash begins so, in hexadecimal.")
  private @Nullable String key;

  @Option(names = "--kind", paramLabel = "KIND", split = ",",
      description = "Only events of these kinds, such as moved,evicted; the page on recordings lists them.")
  private List<String> kinds = List.of();

  @Option(names = "--from", paramLabel = "EVENT|TIME",
      description = "Only events from this one on, or from this time after the first event, such as 2.5s.")
  private @Nullable String from;

  @Option(names = "--until", paramLabel = "EVENT|TIME", description = "Only events up to this one, or up to this time.")
  private @Nullable String until;

  /// The events that the options choose.
  final class Chosen {
    private final Set<Kind> wanted = wantedKinds();
    private final FlowFamily.@Nullable Chosen ofFlow = flow == null ? null : new FlowFamily.Chosen(flow);
    private final String prefix = requireHex(key);
    private final @Nullable PlayPoint first = from == null ? null : PlayPoint.parse("--from", from);
    private final @Nullable PlayPoint last = until == null ? null : PlayPoint.parse("--until", until);
    private boolean sawFlow;

    private Chosen() {}

    /// @param since time of its turn after the first one, in nanoseconds
    boolean has(long number, long since, RecordedEvent event) {
      boolean flows = ofFlow == null || ofFlow.has(event); // reads each event
      sawFlow |= flows;
      return flows && (wanted.isEmpty() || wanted.contains(event.kind()))
          && (first == null || !first.isAfter(number, since)) && (last == null || last.isReached(number, since))
          && (prefix.isEmpty() || event.keys().stream().anyMatch(each -> each.hash().toString().startsWith(prefix)));
    }

    /// @throws IllegalArgumentException if the recording does not have the wanted flow
    void requireFlow() {
      if (!sawFlow) {
        throw new IllegalArgumentException(
            "--flow must be the number or the name of a flow of the recording (was %s)".formatted(flow));
      }
    }
  }

  /// Begins to choose.
  ///
  /// @throws IllegalArgumentException if an option makes no sense
  Chosen begin() {
    return new Chosen();
  }

  private static String requireHex(@Nullable String key) {
    String prefix = key == null ? "" : key.strip().toLowerCase(Locale.ROOT);
    if (!prefix.matches("[0-9a-f]{0,32}") || (key != null && prefix.isEmpty())) {
      throw new IllegalArgumentException("--key must be 1 to 32 hexadecimal digits (was " + key + ")");
    }
    return prefix;
  }

  private Set<Kind> wantedKinds() {
    Set<Kind> wanted = EnumSet.noneOf(Kind.class);
    for (String each : kinds) {
      String plain = each.strip().toUpperCase(Locale.ROOT).replace('-', '_').replace(' ', '_');
      wanted.add(Stream.of(Kind.values()).filter(kind -> kind.name().equals(plain)).findFirst()
          .orElseThrow(() -> new IllegalArgumentException("--kind must be of %s (was %s)".formatted(names(), each))));
    }
    return wanted;
  }

  private static String names() {
    return Stream.of(Kind.values()).map(EventFilter::name).collect(Collectors.joining(", "));
  }

  private static String name(Kind kind) {
    return kind.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /// `event` as a line of text.
  ///
  /// @param since time of its turn after the first one, in nanoseconds
  static String line(long number, long since, RecordedEvent event) {
    return "%9d %12.6f %s%s".formatted(number, since / 1e9, event.begins() ? "" : "  ", EventView.of(number, event)
        .line());
  }
}
