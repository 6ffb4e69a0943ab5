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
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Prefill writes into pages of decode, and an abort is acknowledged, as in the Mooncake backend of SGLang.
///
/// From the change: the acknowledgement of an abort says that the abort was received, not that writes under way have
/// ended. Decode gives its pages to another request, and the old write lands there. Nothing is inferred.
public final class EarlyAck implements Subject {
  /// Pages of decode, and the key whose bytes each holds.
  private List<BlockKey> pages = List.of();
  private List<BlockKey> owned = List.of();
  private List<BlockKey> underWay = List.of();
  private boolean freed;
  private String ending = "not decoded";

  /// A request is aborted while a write of its blocks is under way.
  public static Schedule schedule() {
    return new Schedule()
        .input(Kind.FLOW, 1, "decode receives request 1", keys(1, 0, 2))
        .at(2).input(Kind.LINK, 1, "prefill posts a write", 1, 2, 1)
        .at(5).input(Kind.FLOW_CANCEL, 1, "the client leaves: abort")
        .at(7).input(Kind.FLOW, 2, "decode computes request 2", keys(2, 0, 2))
        .at(9).input(Kind.FLOW_NEXT, 1, "the write lands", keys(1, 0, 2))
        .at(12).input(Kind.TIMER, 2, "step of decode");
  }

  @Override
  public void take(RecordedEvent input, Consumer<RecordedEvent> facts) {
    switch (input.kind()) {
      case FLOW -> {
        owned = input.keys();
        freed = false;
        pages = input.flow() == 1 ? List.of() : input.keys(); // those of request 1 are empty
        facts.accept(fact(Kind.RESERVED, input.flow(), "pages 0 and 1", input.keys()));
      }
      case LINK -> underWay = owned;
      case FLOW_CANCEL -> {
        facts.accept(fact(Kind.LINK, 1, "ABORT_ACK", List.of(), 1, 2, 2)); // at once: the abort was received
        freed = true;
        facts.accept(fact(Kind.REMOVED, 1, "pages 0 and 1 are free", owned));
      }
      case FLOW_NEXT -> {
        pages = underWay;
        facts.accept(fact(Kind.MOVED, 1, "written to pages 0 and 1", underWay));
        underWay = List.of();
      }
      case TIMER -> {
        ending = "request 2 decodes on " + names(pages);
        facts.accept(fact(Kind.FLOW_COMPLETE, 2, ending));
      }
      default -> throw new IllegalArgumentException("input must be one of a transfer (was " + input + ")");
    }
  }

  @Override
  public @Nullable String violation() {
    return freed && !underWay.isEmpty()
        ? "a page is free while a write of block " + name(underWay.getFirst()) + " to it is under way"
        : null;
  }

  @Override
  public boolean isGood() {
    return pages.equals(owned);
  }

  @Override
  public String ending() {
    return ending;
  }
}
