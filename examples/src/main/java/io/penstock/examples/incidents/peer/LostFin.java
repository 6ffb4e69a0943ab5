package io.penstock.examples.incidents.peer;

import static io.penstock.examples.incidents.script.Words.fact;
import static io.penstock.examples.incidents.script.Words.keys;

import io.penstock.examples.incidents.script.Schedule;
import io.penstock.examples.incidents.script.Subject;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A prefill worker that writes into the memory of a decode worker and then says that it is done, as those of SGLang.
///
/// From the threads: status messages are sent once, without an acknowledgement, failures to send are not reported, and
/// a decode request without its message waits until 300 s are over. Inferred: bytes and message take two connections,
/// so the message can be lost while all bytes arrive.
public final class LostFin implements Subject {
  private static final int BLOCKS = 4;

  private boolean linkUp = true;
  private int landed;
  private boolean prefillDone;
  private boolean finReceived;
  private String ending = "waits";

  /// The control connection is down for 40 ms when the last bytes land.
  public static Schedule schedule() {
    return new Schedule()
        .input(Kind.FLOW, 1, "decode waits for room 17", keys(1, 0, 4))
        .at(10).input(Kind.FLOW_NEXT, 1, "bytes land in decode", keys(1, 0, 2))
        .at(15).input(Kind.LINK, 1, "the control connection breaks", 1, 1)
        .at(20).input(Kind.FLOW_NEXT, 1, "bytes land in decode", keys(1, 2, 4))
        .at(55).input(Kind.LINK, 1, "the control connection is up again", 1, 0)
        .at(300_000).input(Kind.TIMER, 1, "waiting timeout of decode");
  }

  @Override
  public void take(RecordedEvent input, Consumer<RecordedEvent> facts) {
    switch (input.kind()) {
      case FLOW -> facts.accept(fact(Kind.RESERVED, 1, "memory of decode", input.keys()));
      case LINK -> linkUp = input.number(1) == 0;
      case FLOW_NEXT -> {
        landed += input.keys().size();
        if (landed == BLOCKS) {
          sendFin(facts);
          prefillDone = true;
          facts.accept(fact(Kind.FLOW_COMPLETE, 1, "prefill: success, blocks released"));
        }
      }
      case TIMER -> {
        if (!finReceived) {
          ending = "failed after 300 s in WaitingForInput, with all bytes in place";
          facts.accept(fact(Kind.FLOW_ERROR, 1, "decode: " + ending));
        }
      }
      default -> throw new IllegalArgumentException("input must be one of a room (was " + input + ")");
    }
  }

  /// Sends once: a failure to send is swallowed, and no acknowledgement is awaited.
  private void sendFin(Consumer<RecordedEvent> facts) {
    if (linkUp) {
      finReceived = true;
      ending = "ready";
    }
    facts.accept(fact(Kind.LINK, 1, linkUp ? "FIN" : "FIN, lost", keys(1, 0, 0), 1, 2, 1));
  }

  @Override
  public @Nullable String violation() {
    return prefillDone && !finReceived
        ? "prefill is done with room 17, decode waits, and no message is under way"
        : null;
  }

  @Override
  public boolean isGood() {
    return finReceived;
  }

  @Override
  public String ending() {
    return ending;
  }
}
