package io.penstock.examples.incidents.peer;

import static io.penstock.examples.incidents.script.Words.fact;
import static io.penstock.examples.incidents.script.Words.keys;
import static io.penstock.examples.incidents.script.Words.names;
import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockKey;
import io.penstock.examples.incidents.script.Schedule;
import io.penstock.examples.incidents.script.Subject;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A prefill worker whose blocks a decode worker reads by their addresses, as with the NIXL connector of vLLM.
///
/// From the issue: the lease of 30 s expires, the blocks are released, the decode worker reads them 21 s later, the
/// prefill worker logs an error at the notification and goes on, and the client gets HTTP 200. Inferred: the slots were
/// taken by another request in between. The issue says that they may have been.
public final class LoggedExpiry implements Subject {
  private static final int SLOTS = 4;

  private final BlockKey[] memory = new BlockKey[SLOTS];
  private final Deque<Integer> free = new ArrayDeque<>(List.of(0, 1, 2, 3));
  /// Slots that are leased, by request.
  private final Map<Long, List<Integer>> leases = new HashMap<>();
  /// Addresses that the decode worker was told, by request; it is never told otherwise.
  private final Map<Long, List<Integer>> told = new HashMap<>();
  private final Map<Long, List<BlockKey>> wanted = new HashMap<>();
  private @Nullable String wrong;
  private String ending = "no read";

  /// Decode is busy for longer than a lease lives.
  public static Schedule schedule() {
    return new Schedule()
        .input(Kind.FLOW, 1, "prefill of request 8f07", keys(1, 0, 4))
        .at(30_000).input(Kind.TIMER, 1, "lease of request 8f07 is over")
        .at(31_000).input(Kind.FLOW, 2, "prefill of request c2a1", keys(2, 0, 4))
        .at(51_000).input(Kind.READ, 1, "decode reads request 8f07", keys(1, 0, 4))
        .at(51_010).input(Kind.LINK, 1, "notification: request 8f07 was read", 1, 3, 1);
  }

  @Override
  public void take(RecordedEvent input, Consumer<RecordedEvent> facts) {
    switch (input.kind()) {
      case FLOW -> {
        List<Integer> slots = new ArrayList<>();
        for (BlockKey key : input.keys()) {
          int slot = free.remove();
          memory[slot] = key;
          slots.add(slot);
        }
        leases.put(input.flow(), slots);
        told.put(input.flow(), slots);
        wanted.put(input.flow(), input.keys());
        facts.accept(fact(Kind.READ_LEASE, input.flow(), "30 s; decode is told the addresses", input.keys()));
      }
      case TIMER -> {
        free.addAll(requireNonNull(leases.remove(input.flow())));
        facts.accept(fact(Kind.REMOVED, input.flow(), "released, retrieved by 0 remote workers",
            requireNonNull(wanted.get(input.flow()))));
      }
      case READ -> read(input.flow(), facts);
      case LINK -> {
        if (!leases.containsKey(input.flow())) {
          facts.accept(fact(Kind.FLOW_ERROR, input.flow(), "error in the log: potentially invalid KV blocks"));
        }
        facts.accept(fact(Kind.FLOW_COMPLETE, input.flow(), "HTTP 200"));
      }
      default -> throw new IllegalArgumentException("input must be one of a prefill worker (was " + input + ")");
    }
  }

  /// A read by address: nothing on the way knows the request.
  private void read(long flow, Consumer<RecordedEvent> facts) {
    List<BlockKey> read = requireNonNull(told.get(flow)).stream().map(slot -> memory[slot]).toList();
    List<BlockKey> asked = requireNonNull(wanted.get(flow));
    ending = "HTTP 200 with the KV of " + names(read) + " for " + names(asked);
    if (!read.equals(asked)) {
      wrong = "decode has the bytes of " + names(read) + " as those of " + names(asked);
    }
    facts.accept(fact(Kind.FLOW_NEXT, flow, "read from the addresses", read));
  }

  @Override
  public @Nullable String violation() {
    return wrong;
  }

  @Override
  public boolean isGood() {
    return wrong == null;
  }

  @Override
  public String ending() {
    return ending;
  }
}
