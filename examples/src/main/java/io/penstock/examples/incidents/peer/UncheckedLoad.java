package io.penstock.examples.incidents.peer;

import static io.penstock.examples.incidents.script.Words.fact;
import static io.penstock.examples.incidents.script.Words.keys;
import static io.penstock.examples.incidents.script.Words.name;
import static io.penstock.examples.incidents.script.Words.names;
import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockKey;
import io.penstock.examples.incidents.script.Schedule;
import io.penstock.examples.incidents.script.Subject;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A worker that loads blocks from a disk into device memory, as KVBM of Dynamo does.
///
/// From the issue: the transfer cannot be created, the error is logged, the metric counts a full hit, and the request
/// is answered with the content of the request before it. Inferred: the message that ends a transfer names the transfer
/// and no outcome, so that its receiver cannot tell a failure.
public final class UncheckedLoad implements Subject {
  private static final int SLOTS = 4;

  /// Key whose bytes each slot of the device holds.
  private final BlockKey[] content = new BlockKey[SLOTS];
  /// Blocks that the device has, by its index; oldest first.
  private final Map<BlockKey, Integer> index = new LinkedHashMap<>();
  private final Set<BlockKey> disk = new HashSet<>();
  private final Map<Long, List<BlockKey>> requests = new HashMap<>();
  private final Map<Long, Transfer> transfers = new LinkedHashMap<>();
  private final List<String> answers = new ArrayList<>();
  private int wrongAnswers;
  private long operations;

  private record Transfer(Map<BlockKey, Integer> slots) {}

  /// A prompt is computed, offloaded and evicted by another one. Then it is asked for again, and its load fails.
  public static Schedule schedule() {
    return new Schedule()
        .input(Kind.FLOW, 1, "request A", keys(1, 0, 4))
        .at(900).input(Kind.FLOW_COMPLETE, 1, "request A is answered")
        .at(1000).input(Kind.FLOW, 2, "request B", keys(2, 0, 4))
        .at(1900).input(Kind.FLOW_COMPLETE, 2, "request B is answered")
        .at(2000).input(Kind.FLOW, 3, "request A again", keys(1, 0, 4))
        .at(2004).input(Kind.STORE_FAILED, 3, "Failed to create XferRequest", 0, 1)
        .at(2010).input(Kind.TIMER, 3, "step of the scheduler");
  }

  @Override
  public void take(RecordedEvent input, Consumer<RecordedEvent> facts) {
    switch (input.kind()) {
      case FLOW -> begin(input.flow(), input.keys(), facts);
      case FLOW_COMPLETE -> {
        List<BlockKey> offloaded = requireNonNull(requests.remove(input.flow()));
        disk.addAll(offloaded);
        facts.accept(fact(Kind.STORE_PUT, input.flow(), "disk", offloaded));
      }
      case STORE_DONE -> {
        requireNonNull(transfers.get(input.number(1))).slots().forEach((key, slot) -> content[slot] = key);
        transferEnded(input.number(1), facts);
      }
      case STORE_FAILED -> transferEnded(input.number(1), facts); // logged: the message has no outcome
      case TIMER -> run(input.flow(), facts);
      default -> throw new IllegalArgumentException("input must be one of a load (was " + input + ")");
    }
  }

  private void begin(long flow, List<BlockKey> keys, Consumer<RecordedEvent> facts) {
    requests.put(flow, keys);
    Map<BlockKey, Integer> slots = new LinkedHashMap<>();
    keys.forEach(key -> slots.put(key, slot(slots.values(), facts)));
    if (disk.containsAll(keys)) {
      transfers.put(++operations, new Transfer(slots));
      facts.accept(fact(Kind.STORE_READ, flow, "disk to device", keys, 0, operations));
    } else {
      slots.forEach((key, slot) -> content[slot] = key); // computed
      index.putAll(slots);
      facts.accept(fact(Kind.STORED, flow, "computed on the device", keys));
    }
  }

  /// A free slot, or that of the oldest block.
  private int slot(Collection<Integer> taken, Consumer<RecordedEvent> facts) {
    for (int slot = 0; slot < SLOTS; slot++) {
      if (!index.containsValue(slot) && !taken.contains(slot)) {
        return slot;
      }
    }
    Map.Entry<BlockKey, Integer> oldest = index.entrySet().iterator().next();
    index.remove(oldest.getKey());
    facts.accept(fact(Kind.EVICTED, 0, "device", oldest.getKey()));
    return oldest.getValue();
  }

  private void transferEnded(long operation, Consumer<RecordedEvent> facts) {
    Map<BlockKey, Integer> slots = requireNonNull(transfers.remove(operation)).slots();
    index.putAll(slots);
    facts.accept(fact(Kind.STORED, 0, "loaded to the device", List.copyOf(slots.keySet())));
  }

  private void run(long flow, Consumer<RecordedEvent> facts) {
    List<BlockKey> wanted = requireNonNull(requests.get(flow));
    if (index.keySet().containsAll(wanted)) {
      List<BlockKey> read = wanted.stream().map(key -> content[requireNonNull(index.get(key))]).toList();
      wrongAnswers += read.equals(wanted) ? 0 : 1;
      answers.add("HTTP 200 with the KV of " + names(read) + " for " + names(wanted));
      facts.accept(fact(Kind.FLOW_NEXT, flow, "HTTP 200, decoded on", read));
    }
  }

  @Override
  public @Nullable String violation() {
    for (Map.Entry<BlockKey, Integer> entry : index.entrySet()) {
      BlockKey held = content[entry.getValue()];
      if (!entry.getKey().equals(held)) {
        return "block " + name(entry.getKey()) + " counts as loaded and holds the bytes of " + name(held);
      }
    }
    return null;
  }

  @Override
  public boolean isGood() {
    return wrongAnswers == 0;
  }

  @Override
  public String ending() {
    return answers.isEmpty() ? "no answer" : answers.getLast();
  }
}
