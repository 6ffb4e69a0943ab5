package io.penstock.recording.check;

import io.penstock.block.BlockKey;
import io.penstock.recording.RecordedEvent;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The events of each tier are numbered without holes, and each follows from those before.
final class VisibleRule implements Rule.Checker {
  private final Map<Integer, Ledger> tiers = new HashMap<>();

  private static final class Ledger {
    /// Levels of the visible blocks.
    final Map<BlockKey, String> levels = new HashMap<>();
    long sequence;
  }

  @Override
  public @Nullable String broken(RecordedEvent event) {
    Ledger ledger = tiers.computeIfAbsent(event.tier(), tier -> new Ledger());
    return switch (event.kind()) {
      case OPENED -> {
        tiers.put(event.tier(), new Ledger()); // a number may be given again
        yield null;
      }
      case STORED -> {
        String wrong = numbered(ledger, event);
        String before = ledger.levels.put(event.keys().getFirst(), event.text());
        yield wrong == null && before != null ? "a block that is stored must be new (was on " + before + ")" : wrong;
      }
      case MOVED -> {
        int to = event.text().indexOf(" > ");
        String wrong = left(ledger, event, event.text().substring(0, to));
        ledger.levels.put(event.keys().getFirst(), event.text().substring(to + 3));
        yield wrong;
      }
      case EVICTED, REMOVED -> left(ledger, event, event.text());
      case LOST -> left(ledger, event, event.text().substring(0, event.text().indexOf(": ")));
      case LEVEL_DOWN, LEVEL_UP -> numbered(ledger, event);
      default -> null;
    };
  }

  private static @Nullable String left(Ledger ledger, RecordedEvent event, String levels) {
    String wrong = numbered(ledger, event);
    String before = ledger.levels.remove(event.keys().getFirst());
    return wrong == null && !levels.equals(before)
        ? "a block that leaves must be on %s (was on %s)".formatted(levels, before == null ? "none" : before)
        : wrong;
  }

  private static @Nullable String numbered(Ledger ledger, RecordedEvent event) {
    long expected = ledger.sequence + 1;
    ledger.sequence = event.number(0);
    return event.number(0) == expected
        ? null
        : "events of a tier must be numbered without holes: %d (was %d)".formatted(expected, event.number(0));
  }
}
