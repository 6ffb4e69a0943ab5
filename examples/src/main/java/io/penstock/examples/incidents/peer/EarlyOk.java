package io.penstock.examples.incidents.peer;

import static io.penstock.examples.incidents.script.Words.fact;
import static io.penstock.examples.incidents.script.Words.keys;
import static io.penstock.examples.incidents.script.Words.names;

import io.penstock.block.BlockKey;
import io.penstock.examples.incidents.script.Schedule;
import io.penstock.examples.incidents.script.Subject;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A decode worker that is told by its sender that all bytes are there, as with the Mooncake connector of vLLM.
///
/// From the threads: under load the hash of the destination differs from that of the source after a transfer that
/// reported success; a maintainer hashed for 12 hours and did not see it. Inferred, and also the reading of a change
/// that was proposed: the write completes at the sender before its last bytes are visible in the memory of decode.
public final class EarlyOk implements Subject {
  /// Granules of a block.
  private static final int GRANULES = 4;

  private List<BlockKey> pages = List.of();
  private int visible;
  private boolean received;
  private int wrong;
  private String ending = "not decoded";

  /// Half of the granules become visible 2 ms after the sender has reported success.
  public static Schedule schedule() {
    return new Schedule()
        .input(Kind.FLOW, 1, "decode receives request 1", keys(1, 0, 2))
        .at(3).input(Kind.FLOW_NEXT, 1, "bytes are visible in decode", keys(1, 0, 2), 0, 2)
        .at(4).input(Kind.LINK, 1, "OK: the write has completed at the sender", 1, 3, 1)
        .at(5).input(Kind.TIMER, 1, "step of decode")
        .at(6).input(Kind.FLOW_NEXT, 1, "bytes are visible in decode", keys(1, 0, 2), 2, 2)
        .at(7).input(Kind.TIMER, 1, "step of decode");
  }

  @Override
  public void take(RecordedEvent input, Consumer<RecordedEvent> facts) {
    switch (input.kind()) {
      case FLOW -> {
        pages = input.keys();
        facts.accept(fact(Kind.RESERVED, 1, "pages of decode", pages));
      }
      case FLOW_NEXT -> visible += (int) input.number(1);
      case LINK -> {
        received = true;
        facts.accept(fact(Kind.FLOW_COMPLETE, 1, "received"));
      }
      case TIMER -> {
        if (received && ending.equals("not decoded")) {
          wrong += visible == GRANULES ? 0 : 1;
          ending = "decoded on " + visible + " of " + GRANULES + " granules of " + names(pages);
          facts.accept(fact(Kind.FLOW_NEXT, 1, ending));
        }
      }
      default -> throw new IllegalArgumentException("input must be one of a transfer (was " + input + ")");
    }
  }

  @Override
  public @Nullable String violation() {
    return wrong > 0 || (received && visible < GRANULES)
        ? "request 1 counts as received with %d of %d granules".formatted(visible, GRANULES)
        : null;
  }

  @Override
  public boolean isGood() {
    return received && wrong == 0;
  }

  @Override
  public String ending() {
    return ending;
  }
}
