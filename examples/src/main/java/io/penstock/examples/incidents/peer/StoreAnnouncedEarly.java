package io.penstock.examples.incidents.peer;

import static io.penstock.examples.incidents.script.Words.fact;
import static io.penstock.examples.incidents.script.Words.keys;
import static io.penstock.examples.incidents.script.Words.name;
import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockKey;
import io.penstock.examples.incidents.script.Schedule;
import io.penstock.examples.incidents.script.Subject;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A second level of files, as that of LMCache behind its `fs_native` adapter.
///
/// From the issue: a store task fails with a warning, the key stays visible to lookups, and a retrieve that hits it
/// returns wrong bytes. Inferred: the key is entered when its store is submitted, the file is written in place, and a
/// retrieve fills a buffer of an earlier request as far as the file goes.
public final class StoreAnnouncedEarly implements Subject {
  /// Parts of a block that are written one after the other.
  private static final int PARTS = 4;

  /// Parts that each file has.
  private final Map<BlockKey, Integer> files = new LinkedHashMap<>();
  /// Keys of each store task that is under way.
  private final Map<Long, List<BlockKey>> tasks = new HashMap<>();
  private int wrong;
  private String ending = "no look-up";

  /// Of two stores one fails, with a quarter of its bytes written. A later prompt finds both.
  public static Schedule schedule() {
    return new Schedule()
        .input(Kind.COMMIT, 1, "store task", keys(1, 0, 1), 1)
        .at(1).input(Kind.COMMIT, 2, "store task", keys(1, 1, 2), 2)
        .at(5).input(Kind.STORE_DONE, 1, "", 0, 1)
        .at(7).input(Kind.STORE_FAILED, 2, "Store task 2 failed: no space left on device", 0, 2, 1)
        .at(60_000).input(Kind.LEASE, 3, "a prompt with the same prefix", keys(1, 0, 2))
        .at(60_001).input(Kind.READ, 4, "retrieve", keys(1, 0, 2));
  }

  @Override
  public void take(RecordedEvent input, Consumer<RecordedEvent> facts) {
    switch (input.kind()) {
      case COMMIT -> {
        tasks.put(input.number(0), input.keys());
        input.keys().forEach(key -> files.put(key, 0)); // lookups ask for the entry
        facts.accept(fact(Kind.STORED, input.flow(), "entered at submission", input.keys()));
      }
      case STORE_DONE -> requireNonNull(tasks.remove(input.number(1))).forEach(key -> files.put(key, PARTS));
      case STORE_FAILED -> {
        requireNonNull(tasks.remove(input.number(1))).forEach(key -> files.put(key, (int) input.number(2)));
        facts.accept(fact(Kind.FLOW_ERROR, input.flow(), "warning in the log: " + input.text()));
      }
      case LEASE -> facts.accept(fact(Kind.LEASED, input.flow(), "found",
          input.keys().stream().filter(files::containsKey).toList()));
      case READ -> input.keys().forEach(key -> {
        int parts = requireNonNull(files.get(key));
        wrong += parts == PARTS ? 0 : 1;
        ending = name(key) + (parts == PARTS
            ? ": its own bytes"
            : ": its own bytes up to " + parts + " of " + PARTS
                + " parts, then those of another request; no error");
        facts.accept(fact(Kind.FLOW_NEXT, input.flow(), ending, key));
      });
      default -> throw new IllegalArgumentException("input must be one of a file level (was " + input + ")");
    }
  }

  @Override
  public @Nullable String violation() {
    for (Map.Entry<BlockKey, Integer> file : files.entrySet()) {
      boolean underWay = tasks.values().stream().anyMatch(keys -> keys.contains(file.getKey()));
      if (!underWay && file.getValue() < PARTS) {
        return "block " + name(file.getKey()) + " is found by lookups with " + file.getValue() + " of " + PARTS
            + " parts";
      }
    }
    return null;
  }

  @Override
  public boolean isGood() {
    return wrong == 0;
  }

  @Override
  public String ending() {
    return ending;
  }
}
