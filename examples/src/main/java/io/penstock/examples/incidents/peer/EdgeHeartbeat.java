package io.penstock.examples.incidents.peer;

import static io.penstock.examples.incidents.script.Words.fact;
import static io.penstock.examples.incidents.script.Words.keys;

import io.penstock.examples.incidents.script.Schedule;
import io.penstock.examples.incidents.script.Subject;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A worker and its cache server, as those of LMCache in its mode of several processes.
///
/// From the issue: a PING only says that a server answers. A worker registers its KV memory again when it sees a server
/// go from unhealthy to healthy. A server that restarts between two PINGs shows no such change. Nothing is inferred.
public final class EdgeHeartbeat implements Subject {
  private static final String WORKER = "worker 0";

  private boolean serverUp = true;
  /// Workers that this process of the server knows.
  private final Set<String> registered = new HashSet<>();
  /// What the worker saw last.
  private boolean healthy;
  /// Whether this process of the server answered a PING.
  private boolean answered;
  private int refused;

  /// A heartbeat every 10 s, and a restart of 3 s between two of them.
  public static Schedule schedule() {
    return new Schedule()
        .input(Kind.LINK, 1, "worker 0 registers", 1, 3, 1)
        .at(10_000).input(Kind.TIMER, 1, "heartbeat")
        .at(12_000).input(Kind.COMMIT, 1, "STORE", keys(1, 0, 1))
        .at(20_000).input(Kind.TIMER, 1, "heartbeat")
        .at(23_000).input(Kind.LINK, 1, "server stops", 1, 1)
        .at(26_000).input(Kind.LINK, 1, "server starts", 1, 0)
        .at(30_000).input(Kind.TIMER, 1, "heartbeat")
        .at(32_000).input(Kind.COMMIT, 2, "STORE", keys(2, 0, 1))
        .at(40_000).input(Kind.TIMER, 1, "heartbeat")
        .at(42_000).input(Kind.COMMIT, 3, "STORE", keys(3, 0, 1));
  }

  @Override
  public void take(RecordedEvent input, Consumer<RecordedEvent> facts) {
    switch (input.kind()) {
      case LINK -> link((int) input.number(1));
      case TIMER -> ping(facts);
      case COMMIT -> {
        boolean taken = serverUp && registered.contains(WORKER);
        refused += taken ? 0 : 1;
        facts.accept(taken
            ? fact(Kind.STORED, input.flow(), "server", input.keys())
            : fact(Kind.FLOW_ERROR, input.flow(), "No GPU context registered: STORE returns False"));
      }
      default -> throw new IllegalArgumentException("input must be one of a worker or its server (was " + input + ")");
    }
  }

  private void link(int state) {
    switch (state) {
      case 0 -> serverUp = true;
      case 1 -> {
        serverUp = false;
        answered = false;
        registered.clear(); // they were in the memory of the process
      }
      default -> {
        registered.add(WORKER);
        healthy = true;
      }
    }
  }

  private void ping(Consumer<RecordedEvent> facts) {
    boolean before = healthy;
    healthy = serverUp;
    answered = serverUp;
    if (!before && healthy) { // the edge
      registered.add(WORKER);
    }
    facts.accept(fact(Kind.ANSWER, 1, healthy ? "PING answered: healthy" : "PING lost: unhealthy"));
  }

  @Override
  public @Nullable String violation() {
    return answered && !registered.contains(WORKER)
        ? "the server answered a heartbeat of a worker that it does not know, and the worker does not learn it"
        : null;
  }

  @Override
  public boolean isGood() {
    return refused == 0;
  }

  @Override
  public String ending() {
    return refused + " of 3 stores refused, and all that follow";
  }
}
