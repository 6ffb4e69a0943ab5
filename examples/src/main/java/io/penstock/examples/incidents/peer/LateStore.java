package io.penstock.examples.incidents.peer;

import static io.penstock.examples.incidents.script.Words.fact;
import static io.penstock.examples.incidents.script.Words.keys;
import static io.penstock.examples.incidents.script.Words.name;
import static io.penstock.examples.incidents.script.Words.names;

import io.penstock.block.BlockKey;
import io.penstock.examples.incidents.script.Schedule;
import io.penstock.examples.incidents.script.Subject;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A worker that stores blocks from a queue, as the Mooncake store connector of vLLM 0.26.
///
/// From the issue: a step only queues the store, a thread reads the blocks later, a preemption frees the blocks in
/// between, and the bytes of the next owner are stored under the key of the first. Nothing is inferred.
public final class LateStore implements Subject {
  /// Keys whose bytes the slots of the device hold.
  private List<BlockKey> slots = List.of();
  private List<BlockKey> queued = List.of();
  /// Key whose bytes are stored under each key.
  private final Map<BlockKey, BlockKey> stored = new LinkedHashMap<>();
  private String ending = "no read";

  /// A request is preempted between the step that queues its store and the store.
  public static Schedule schedule() {
    return new Schedule()
        .input(Kind.FLOW, 1, "request 1 is computed; its store is queued", keys(1, 0, 2))
        .at(10).input(Kind.FLOW_CANCEL, 1, "request 1 is preempted")
        .at(11).input(Kind.FLOW, 2, "request 2 is computed", keys(2, 0, 2))
        .at(15).input(Kind.STORE_DONE, 1, "the store thread has read the slots", 0, 1)
        .at(5000).input(Kind.READ, 3, "another request hits the prefix of request 1", keys(1, 0, 2));
  }

  @Override
  public void take(RecordedEvent input, Consumer<RecordedEvent> facts) {
    switch (input.kind()) {
      case FLOW -> {
        slots = input.keys();
        queued = input.flow() == 1 ? slots : queued; // keys and addresses, no reference to the blocks
        facts.accept(fact(Kind.RESERVED, input.flow(), "slots 0 and 1", slots));
      }
      case FLOW_CANCEL -> facts.accept(fact(Kind.REMOVED, input.flow(), "slots 0 and 1 are free", slots));
      case STORE_DONE -> {
        for (int slot = 0; slot < queued.size(); slot++) {
          stored.put(queued.get(slot), slots.get(slot));
        }
        facts.accept(fact(Kind.STORED, input.flow(), "store, under the keys of the queue", queued));
      }
      case READ -> {
        List<BlockKey> read = input.keys().stream().map(stored::get).toList();
        ending = "a hit gave " + names(read) + " for " + names(input.keys());
        facts.accept(fact(Kind.FLOW_NEXT, input.flow(), "read", read));
      }
      default -> throw new IllegalArgumentException("input must be one of a store queue (was " + input + ")");
    }
  }

  @Override
  public @Nullable String violation() {
    return stored.entrySet().stream().filter(each -> !each.getKey().equals(each.getValue()))
        .map(each -> "block " + name(each.getKey()) + " is stored with the bytes of " + name(each.getValue()))
        .findFirst().orElse(null);
  }

  @Override
  public boolean isGood() {
    return violation() == null;
  }

  @Override
  public String ending() {
    return ending;
  }
}
