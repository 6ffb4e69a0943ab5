package io.penstock.node.recording;

import io.penstock.node.cli.Console;
import io.penstock.node.play.EventView;
import io.penstock.node.play.PlayText;
import io.penstock.node.text.Json;
import io.penstock.node.text.Plural;
import io.penstock.node.text.Sizes;
import io.penstock.node.text.TextTable;
import io.penstock.node.tiers.PlayedTiers;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/// What is in a recording.
///
/// @param form `folder` or `file`
/// @param files on the disk
/// @param bytes of these files
/// @param began when it was begun, as the wall clock had it; null if it does not say
/// @param versions of what recorded it, its reason and its configuration; null if it does not say
/// @param nanos from the first turn to the last
/// @param requests leases
/// @param kinds events by kind
/// @param flows subscriptions by the name of the flow
/// @param tiers that were opened
/// @param gaps places where events are missing
/// @param payloadBytes bytes of blocks that were kept
/// @param playable whether it can be played, at least in part
/// @param reasons why it cannot be played, or not to its end
record RecordingInfo(String recording, String form, int files, long bytes, @Nullable String began,
    @Nullable JsonNode versions, long events, long turns, long nanos, long requests, Map<String, Long> kinds,
    Map<String, Long> flows, List<Tier> tiers, List<Gap> gaps, long payloadBytes, boolean playable,
    List<String> reasons) {
  /// A tier that was opened.
  ///
  /// @param event with which it was opened
  /// @param words that describe it: JSON of this version, or null
  record Tier(int number, long event, @Nullable JsonNode words) {}

  /// @param event its place in the recording
  /// @param missing events
  record Gap(long event, long missing) {}

  static RecordingInfo of(Path place, Console console) {
    Reading reading = new Reading();
    Recordings.forEach(place, console, "info", reading);
    return reading.info(place);
  }

  private static final class Reading implements Recordings.Visitor {
    private final Map<String, Long> kinds = new TreeMap<>();
    private final Map<String, Long> flows = new TreeMap<>();
    private final List<Tier> tiers = new ArrayList<>();
    private final Set<Integer> open = new HashSet<>();
    private final List<Gap> gaps = new ArrayList<>();
    private final List<String> reasons = new ArrayList<>();
    private boolean playable = true;
    private @Nullable String began;
    private @Nullable JsonNode versions;
    private long events;
    private long turns;
    private long first;
    private long last;
    private long payloadBytes;

    @Override
    public void visit(long number, RecordedEvent event) {
      events++;
      kinds.merge(EventView.kind(event), 1L, Long::sum);
      if (event.begins() && event.kind() != Kind.BEGAN) {
        first = turns == 0 ? event.at() : first;
        last = event.at();
        turns++;
      }
      switch (event.kind()) {
        case BEGAN -> began(event);
        case OPENED -> opened(number, event);
        case GAP -> gap(number, event);
        case FLOW -> flows.merge(event.text(), 1L, Long::sum);
        case PAYLOAD -> payloadBytes += event.number(2);
        default -> {
          if (event.begins() && !event.isSignal() && gaps.isEmpty() && open.add(event.tier())) {
            refuse("tier %d is called at event %d and was never opened".formatted(event.tier(), number));
          }
        }
      }
    }

    private void began(RecordedEvent event) {
      if (began == null) {
        began = event.number(0) == 0 ? null : Instant.ofEpochMilli(event.number(0)).toString();
        versions = json(event.text());
      }
    }

    private void opened(long number, RecordedEvent event) {
      open.add(event.tier());
      tiers.add(new Tier(event.tier(), number, json(event.text())));
      try {
        new PlayedTiers().stores(event);
      } catch (JacksonException | IllegalArgumentException | NullPointerException e) {
        refuse("tier %d was opened by another program or version: only it plays the recording".formatted(event.tier()));
      }
    }

    private void gap(long number, RecordedEvent event) {
      if (number == 0) {
        refuse("the first %,d events are missing, and what tiers do depends on all that happened before".formatted(
            event.number(0)));
      } else if (gaps.isEmpty()) {
        reasons.add("it is played up to event %d, where events are missing".formatted(number));
      }
      gaps.add(new Gap(number, event.number(0)));
    }

    private void refuse(String reason) {
      playable = false;
      reasons.add(reason);
    }

    private static @Nullable JsonNode json(String text) {
      try {
        return text.isEmpty() ? null : Json.MAPPER.readTree(text);
      } catch (JacksonException e) {
        return null;
      }
    }

    RecordingInfo info(Path place) {
      if (events == 0) {
        refuse("it has no events");
      } else if (tiers.isEmpty() && playable) {
        reasons.add("it has no tier: signals are passed over when it is played");
      }
      return new RecordingInfo(place.toString(), Files.isDirectory(place) ? "folder" : "file",
          Recordings.files(place).size(), Recordings.bytes(place), began, versions, events, turns, last - first,
          kinds.getOrDefault("lease", 0L) + kinds.getOrDefault("read", 0L), kinds, flows, tiers, gaps, payloadBytes,
          playable, reasons);
    }
  }

  /// For people.
  String text() {
    StringBuilder text = new StringBuilder();
    text.append("recording %s: a %s, %s in %s%n".formatted(recording, form, Sizes.human(bytes),
        Plural.of(files, "file")));
    text.append("%,d events in %,d turns, %s; %s%n".formatted(events, turns, PlayText.seconds(nanos),
        Plural.of(requests, "request")));
    if (began != null) {
      text.append(versions != null && versions.has("reason") ? "saved " : "began ").append(began).append('\n');
    }
    if (versions != null) {
      versions.forEachEntry((name, value) -> text.append("  ").append(name).append(": ")
          .append(value.isString() ? value.asString() : value.toString()).append('\n'));
    }
    text.append("bytes of blocks: ").append(payloadBytes == 0 ? "none were kept" : Sizes.human(payloadBytes))
        .append('\n');
    tiers.forEach(tier -> text.append("tier %d, opened at event %d: %s%n".formatted(tier.number(), tier.event(),
        tier.words() == null ? "no words" : words(tier.words()))));
    text.append(counts("EVENTS OF KIND", kinds));
    if (!flows.isEmpty()) {
      text.append(counts("SUBSCRIPTIONS OF FLOW", flows));
    }
    gaps.forEach(gap -> text.append("%,d events are missing at event %d%n".formatted(gap.missing(), gap.event())));
    text.append(playable ? "can be played" : "cannot be played");
    text.append(reasons.isEmpty() ? "" : reasons.stream().collect(Collectors.joining("; ", ": ", "")));
    return text.toString();
  }

  /// What tells a tier from others in one line.
  private static String words(JsonNode words) {
    StringBuilder text = new StringBuilder();
    for (String name : List.of("name", "policy", "mode", "exact", "dramBlocks", "ssdBlocks")) {
      if (words.has(name)) {
        JsonNode value = words.get(name);
        text.append(text.isEmpty() ? "" : ", ").append(name).append(' ')
            .append(value.isString() ? value.asString() : value.toString());
      }
    }
    JsonNode model = words.path("space").path("model");
    return text.append(model.isMissingNode() ? "" : ", model " + model.asString()).toString();
  }

  private static String counts(String title, Map<String, Long> counts) {
    TextTable table = new TextTable(title, "COUNT");
    counts.forEach(table::row);
    return table.toString();
  }
}
