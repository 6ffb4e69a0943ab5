package io.penstock.examples.incidents.peer;

import static io.penstock.examples.incidents.script.Words.fact;
import static io.penstock.examples.incidents.script.Words.keys;
import static io.penstock.examples.incidents.script.Words.name;

import io.penstock.block.BlockKey;
import io.penstock.examples.incidents.script.Schedule;
import io.penstock.examples.incidents.script.Subject;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A scheduler over a level of files, as the tiered offloading of vLLM 0.25.
///
/// From the issue: verdicts of lookups are cached, a failed load does not change them, the file of a failed load is
/// deleted, and the scheduler begins the same load at each step for ever. Nothing is inferred.
public final class CachedVerdict implements Subject {
  private final Set<BlockKey> files = new HashSet<>(keys(1, 0, 4));
  private final Set<BlockKey> damaged = new HashSet<>();
  private final Map<BlockKey, Boolean> verdicts = new HashMap<>();
  private final Set<BlockKey> loaded = new HashSet<>();
  private List<BlockKey> wanted = List.of();
  private int begun;
  private boolean answered;

  /// A request of four blocks, of which one has a bad file, and eight steps of the scheduler.
  public static Schedule schedule() {
    Schedule schedule = new Schedule()
        .input(Kind.STORE_DAMAGED, 0, "a file is cut short", keys(1, 2, 3), 0)
        .at(10).input(Kind.FLOW, 1, "request", keys(1, 0, 4));
    for (int step = 1; step <= 8; step++) {
      schedule.at(step * 20L).input(Kind.TIMER, 1, "step of the scheduler")
          .at(step * 20L + 5).input(Kind.STORE_DONE, 1, "the disk has answered", 0, step);
    }
    return schedule;
  }

  @Override
  public void take(RecordedEvent input, Consumer<RecordedEvent> facts) {
    switch (input.kind()) {
      case STORE_DAMAGED -> damaged.addAll(input.keys());
      case FLOW -> wanted = input.keys();
      case TIMER -> step(facts);
      case STORE_DONE -> wanted.stream().filter(key -> isHit(key) && !loaded.contains(key))
          .forEach(key -> load(key, facts));
      default -> throw new IllegalArgumentException("input must be one of a scheduler (was " + input + ")");
    }
  }

  private void step(Consumer<RecordedEvent> facts) {
    List<BlockKey> missing = wanted.stream().filter(key -> isHit(key) && !loaded.contains(key)).toList();
    if (!missing.isEmpty()) {
      begun++;
      facts.accept(fact(Kind.STORE_READ, 1, "promotion", missing));
    } else if (!answered) {
      answered = true;
      facts.accept(fact(Kind.FLOW_COMPLETE, 1, "answered"));
    }
  }

  private boolean isHit(BlockKey key) {
    return verdicts.computeIfAbsent(key, files::contains);
  }

  private void load(BlockKey key, Consumer<RecordedEvent> facts) {
    if (files.contains(key) && !damaged.contains(key)) {
      loaded.add(key);
      return;
    }
    boolean deleted = files.remove(key); // on any failure; the evidence goes with it
    facts.accept(fact(Kind.FLOW_ERROR, 1, deleted ? "load failed, file deleted" : "load failed, no such file", key));
  }

  @Override
  public @Nullable String violation() {
    return verdicts.entrySet().stream().filter(each -> each.getValue() && !files.contains(each.getKey()))
        .map(each -> "lookups say that block " + name(each.getKey()) + " is there, and it has no file").findFirst()
        .orElse(null);
  }

  @Override
  public boolean isGood() {
    return answered;
  }

  @Override
  public String ending() {
    return answered ? "answered" : begun + " promotions in 8 steps, no answer, the bad file deleted";
  }
}
