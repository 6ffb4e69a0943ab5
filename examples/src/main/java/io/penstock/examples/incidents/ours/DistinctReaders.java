package io.penstock.examples.incidents.ours;

import io.penstock.disagg.RankId;
import io.penstock.disagg.request.LifecycleListener;
import io.penstock.disagg.request.LifecycleOptions;
import io.penstock.disagg.request.PrefillConnector;
import io.penstock.disagg.request.Release;
import io.penstock.disagg.request.RequestAnswer;
import io.penstock.disagg.request.Signal;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// A reader counts once, however often it says that it is done.
public final class DistinctReaders extends RequestRig {
  private static final String REQUEST = "request 1";

  private final Set<RankId> done = new TreeSet<>();
  private final PrefillConnector prefill =
      new PrefillConnector(LifecycleOptions.defaults(), new LifecycleListener() {
        @Override
        public void released(String request, Release release) {
          fact(Kind.REMOVED, 1, "released: " + release);
        }
      }, time.scheduler());
  private boolean free = true;
  private int waited;
  private @Nullable String stale;
  private String ending = "no read";

  @Override
  void take(RecordedEvent input) {
    switch (input.kind()) {
      case FLOW -> begin(input);
      case READ -> {
        if (free) {
          stale = reader(input) + " reads memory that was given up";
        }
        fact(Kind.FLOW_NEXT, 1, reader(input) + " gets its own blocks");
        ending = reader(input) + " got its own blocks";
      }
      case LINK -> {
        done.add(reader(input));
        // A signal that frees nothing that is read is answered at once
        RequestAnswer answer =
            prefill.accept(new Signal(Signal.Kind.DONE, REQUEST, reader(input).since(1), 2)).block();
        fact(Kind.ANSWER, 1, reader(input) + ": " + (answer == null ? "none" : answer.outcome()));
      }
      default -> throw new IllegalArgumentException("input must be one of a prefill rank (was " + input + ")");
    }
  }

  private void begin(RecordedEvent input) {
    if (input.flow() == 1) {
      free = false;
      prefill.open(REQUEST, Set.of(READER_0, READER_1), () -> Mono.fromRunnable(() -> free = true));
    } else if (free) {
      fact(Kind.RESERVED, 2, "memory of request 1");
    } else {
      waited++;
      fact(Kind.ANSWER, 2, "no memory is free: it waits");
    }
  }

  private static RankId reader(RecordedEvent input) {
    return input.number(0) == 0 ? READER_0 : READER_1;
  }

  @Override
  public @Nullable String violation() {
    return free && done.size() < 2 && waited + done.size() > 0 ? "blocks are free with DONE of " + done : stale;
  }

  @Override
  public boolean isGood() {
    return free && done.size() == 2 && stale == null;
  }

  @Override
  public String ending() {
    return "%s; %d DONE too many ignored; the other request waited for memory".formatted(ending,
        prefill.figures().duplicates());
  }

  @Override
  public void close() {
    prefill.close().block(); // no read is under way, so nothing is waited for
  }
}
