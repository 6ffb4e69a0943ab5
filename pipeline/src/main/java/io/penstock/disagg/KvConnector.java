package io.penstock.disagg;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import java.util.List;
import java.util.Map;
import java.util.Set;
import reactor.core.publisher.Mono;

/// What an inference engine calls to have its KV cache come from elsewhere, or go there.
///
/// An engine has one scheduler, which admits requests, and workers, one for each rank. In each step the scheduler side
/// says what the workers are to do, the engine brings that to its workers, and brings their results back.
public interface KvConnector {
  /// Called by the engine's scheduler, on one thread.
  interface SchedulerSide {
    /// Tokens of a request that need not be computed, beyond the first `computedTokens`. Never waits.
    Matched matched(String request, int promptTokens, int computedTokens);

    /// The engine has allocated blocks for tokens that were matched; [Matched#tokens()] of 0 among them.
    void allocated(String request, Matched matched);

    /// The engine is done with the request.
    ///
    /// @return whether its blocks stay until [Finished.Kind#SENT]
    boolean finished(String request);

    /// What the workers are to do in this step; told once.
    List<Task> step();

    /// Results of one worker in a step.
    ///
    /// @return the requests that all workers have reported with it
    List<Finished> update(int rank, Results results);
  }

  /// Called by one worker. Methods do not wait; what they return may be waited for.
  interface WorkerSide {
    /// Begins the tasks of a step.
    void begin(List<Task> tasks);

    /// Completes when the blocks that came in the tasks of the last step are complete in `layer`, or have failed.
    Mono<Void> loadLayer(int layer);

    /// The engine has written layer `layer` of a request, and will not write it again in this step.
    void saveLayer(String request, int layer);

    /// Completes when no block that was saved is read any more.
    Mono<Void> waitForSave();

    /// How many distinct peers this worker waits for, for one request; 0 if for none.
    int completionsExpected(String request);

    /// What has ended since the last call.
    Results results();
  }

  /// @param tokens that come from elsewhere
  /// @param isAsync whether the request waits for them while others run
  record Matched(int tokens, boolean isAsync) {
    /// Nothing comes from elsewhere.
    public static final Matched NONE = new Matched(0, false);

    public Matched {
      Checks.notNegative("tokens", tokens);
    }
  }

  /// What each worker does for one request.
  ///
  /// @param cachedTokens tokens of the prompt that the engine has already
  record Task(Kind kind, String request, int promptTokens, int cachedTokens) {
    /// The kinds of tasks.
    public enum Kind {
      /// Gets the blocks that are missing.
      RECEIVE,
      /// Keeps the blocks for receivers.
      KEEP
    }

    public Task {
      requireNonNull(kind, "kind");
      requireNonNull(request, "request");
    }
  }

  /// What ended at one worker.
  ///
  /// @param sent requests whose blocks this worker keeps no more
  /// @param received requests that ended here, in whatever way
  /// @param expected for single requests, how many workers report them; the others are reported by all
  record Results(Set<String> sent, List<Received> received, Map<String, Integer> expected) {
    public Results {
      sent = Set.copyOf(sent);
      received = List.copyOf(received);
      expected = Map.copyOf(expected);
    }
  }

  /// A request that has ended at all workers that take part.
  ///
  /// @param received ends at the workers; empty for [Kind#SENT]
  record Finished(Kind kind, String request, List<Received> received) {
    /// The kinds of ends.
    public enum Kind {
      /// No receiver needs its blocks.
      SENT,
      /// Its blocks have come, or [#received()] says which have not.
      RECEIVED
    }

    public Finished {
      received = List.copyOf(received);
    }

    /// The state of the group of workers: the least of theirs.
    public RequestState state() {
      return kind == Kind.SENT
          ? RequestState.SUCCESS
          : RequestState.ofGroup(received.stream().map(Received::state).toList());
    }
  }
}
