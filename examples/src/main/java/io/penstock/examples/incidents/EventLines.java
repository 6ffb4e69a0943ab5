package io.penstock.examples.incidents;

import io.penstock.block.BlockKey;
import io.penstock.examples.incidents.script.Words;
import io.penstock.node.text.Reason;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/// Events as lines: an input with its time in seconds, its facts below it. Equal facts in a row are one line.
final class EventLines {
  /// What a tier does between those that a reader of an incident asks about.
  private static final Set<Kind> LEFT_OUT = EnumSet.of(Kind.SLOT, Kind.HELD, Kind.NO_NUMBER, Kind.DRAW, Kind.CLOSE,
      Kind.ENDED, Kind.REQUEST, Kind.WINDOWS, Kind.RESERVED, Kind.COMMIT, Kind.HOLDS, Kind.LEASE, Kind.SHUT,
      Kind.STORE_SHUT);
  private static final int TEXT = 80;
  /// Most lines of the facts of one input.
  private static final int FACTS = 12;

  private EventLines() {}

  /// Lines of the events of a peer, with a mark at the event `broken`.
  ///
  /// @param violation how the promise is broken from then on
  static String ofPeer(List<RecordedEvent> events, int broken, String violation) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < events.size(); i++) {
      RecordedEvent event = events.get(i);
      if (event.kind() != Kind.BEGAN) {
        text.append(line(event, event.keys(), 1)).append('\n');
      }
      if (i == broken) {
        text.append("  BROKEN   ").append(violation).append('\n');
      }
    }
    return text.toString();
  }

  /// Lines of the events on Penstock: the inputs of the incident, and what tiers and tables made of them.
  static String ofPenstock(List<RecordedEvent> events, List<RecordedEvent> inputs) {
    List<RecordedEvent> shown = events.stream()
        .filter(event -> inputs.contains(event) || !LEFT_OUT.contains(event.kind())).toList();
    StringBuilder text = new StringBuilder();
    long now = 0;
    int facts = 0;
    for (int i = 0; i < shown.size();) {
      RecordedEvent event = shown.get(i);
      int end = i + 1;
      if (inputs.contains(event)) {
        text.append(more(facts));
        facts = 0;
        now = event.at();
        text.append(line(event, event.keys(), 1)).append('\n');
      } else {
        List<BlockKey> keys = new ArrayList<>(event.keys());
        while (end < shown.size() && isLike(event, shown.get(end))) {
          keys.addAll(shown.get(end).keys());
          end++;
        }
        if (++facts <= FACTS) {
          text.append(line(withoutNumbers(event, event.begins() && event.at() != now), keys, end - i)).append('\n');
        }
      }
      i = end;
    }
    return text.append(more(facts)).toString();
  }

  private static String more(int facts) {
    return facts > FACTS ? " ".repeat(12) + "… and " + (facts - FACTS) + " more\n" : "";
  }

  private static boolean isLike(RecordedEvent event, RecordedEvent other) {
    return event.kind() == other.kind() && event.text().equals(other.text()) && !event.begins() && !other.begins();
  }

  /// Numbers of a tier's events are for the player. A turn of a tier is a fact of the input that led to it, unless a
  /// timer did.
  private static RecordedEvent withoutNumbers(RecordedEvent event, boolean hasTime) {
    return new RecordedEvent(event.kind(), hasTime, event.at(), 0, event.flow(), new long[0], event.keys(),
        event.text());
  }

  private static String line(RecordedEvent event, List<BlockKey> keys, int count) {
    String when = event.begins() ? String.format(Locale.ROOT, "%8.3f  ", event.at() / 1e9) : " ".repeat(12);
    StringBuilder line = new StringBuilder(when).append(event.kind().name().toLowerCase(Locale.ROOT).replace('_', ' '));
    String said = Reason.printable(event.text());
    if (!said.isEmpty()) {
      line.append(": ").append(said.length() > TEXT ? said.substring(0, TEXT) + "…" : said);
    }
    if (!keys.isEmpty()) {
      line.append(" [").append(Words.names(keys)).append(']');
    } else if (count > 1) {
      line.append(" (").append(count).append(')');
    } else if (event.size() > 0 && saysNumbers(event)) {
      List<String> numbers = new ArrayList<>();
      for (int i = 0; i < event.size(); i++) {
        numbers.add(String.valueOf(event.number(i)));
      }
      line.append(' ').append(numbers);
    }
    return line.toString();
  }

  private static boolean saysNumbers(RecordedEvent event) {
    return !event.begins() && switch (event.kind()) {
      case STORED, LEASED, MOVED, FLOW_ERROR -> true;
      default -> false;
    };
  }
}
