package io.penstock.disagg;

import static java.util.Objects.requireNonNull;

import io.penstock.disagg.KvConnector.Finished;
import io.penstock.disagg.KvConnector.Matched;
import io.penstock.disagg.KvConnector.Results;
import io.penstock.disagg.KvConnector.SchedulerSide;
import io.penstock.disagg.KvConnector.Task;
import io.penstock.disagg.KvConnector.WorkerSide;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/// The decode side behind [KvConnector]: what prefill computed comes from there, for all requests that have a prefill.
public final class DecodeConnector {
  private DecodeConnector() {}

  /// @param ranks workers of the instance
  /// @param hasPrefill whether a prefill instance has computed the request
  public static SchedulerSide scheduler(int ranks, Predicate<String> hasPrefill) {
    return new Scheduler(ranks, hasPrefill);
  }

  /// @param orders what this rank receives for a task; see [PlannedOrder]
  public static Worker worker(DecodeRequests requests, Function<Task, ReceiveOrder> orders) {
    return new Worker(requests, orders);
  }

  private static final class Scheduler implements SchedulerSide {
    private final ResultAggregator results;
    private final Predicate<String> hasPrefill;
    private final Map<String, Task> matched = new HashMap<>();
    private final List<Task> next = new ArrayList<>();

    Scheduler(int ranks, Predicate<String> hasPrefill) {
      this.results = new ResultAggregator(ranks);
      this.hasPrefill = requireNonNull(hasPrefill, "hasPrefill");
    }

    @Override
    public Matched matched(String request, int promptTokens, int computedTokens) {
      if (!hasPrefill.test(request)) {
        return Matched.NONE;
      }
      matched.put(request, new Task(Task.Kind.RECEIVE, request, promptTokens, computedTokens));
      int missing = promptTokens - computedTokens;
      return new Matched(missing, missing > 0);
    }

    @Override
    public void allocated(String request, Matched found) {
      Task task = matched.remove(request); // there is one transfer for a request, however often it is scheduled
      if (task == null) {
        return;
      }
      if (found.tokens() > 0) { // a full hit runs at once: its sources are told, and nothing is awaited
        results.expect(Finished.Kind.RECEIVED, request);
      }
      next.add(task);
    }

    @Override
    public boolean finished(String request) {
      matched.remove(request);
      results.forget(Finished.Kind.RECEIVED, request);
      return false;
    }

    @Override
    public List<Task> step() {
      List<Task> tasks = List.copyOf(next);
      next.clear();
      return tasks;
    }

    @Override
    public List<Finished> update(int rank, Results ended) {
      return results.add(rank, ended);
    }
  }

  /// One worker of the decode side. Safe from any thread.
  public static final class Worker implements WorkerSide {
    private final DecodeRequests requests;
    private final Function<Task, ReceiveOrder> orders;
    private final Map<String, Running> running = new HashMap<>();
    private final List<Received> ended = new ArrayList<>();

    private record Running(ReceiveOrder order, Sinks.Empty<Void> over, Disposable.Swap receiving) {}

    private Worker(DecodeRequests requests, Function<Task, ReceiveOrder> orders) {
      this.requests = requireNonNull(requests, "requests");
      this.orders = requireNonNull(orders, "orders");
    }

    @Override
    public void begin(List<Task> tasks) {
      for (Task task : tasks) {
        Running one = new Running(orders.apply(task), Sinks.empty(), Disposables.swap());
        synchronized (running) {
          running.putIfAbsent(task.request(), one);
        }
        one.receiving().update(requests.receive(one.order()).subscribe(received -> over(one, received),
            error -> over(one, refused(one.order(), error))));
      }
    }

    /// The end of a request whose name is in use: one that was cancelled may still drain.
    private static Received refused(ReceiveOrder order, Throwable error) {
      BlockOutcomes.Tally blocks = new BlockOutcomes.Tally();
      order.shards().forEach(shard -> blocks.add(shard.blocks(), BlockOutcome.of(error)));
      return new Received(order.request(), Ending.FAILED, blocks.outcomes(), null, 0, error);
    }

    private void over(Running one, Received received) {
      synchronized (running) {
        running.remove(received.request(), one);
        ended.add(received);
      }
      one.over().tryEmitEmpty();
    }

    /// Ends a request of a client that left; its end is not reported.
    public void cancel(String request) {
      Running one;
      synchronized (running) {
        one = running.remove(request);
      }
      if (one != null) {
        one.receiving().dispose();
        one.over().tryEmitEmpty();
      }
    }

    @Override
    public Mono<Void> loadLayer(int layer) {
      synchronized (running) {
        return Mono.when(running.values().stream().map(one -> one.over().asMono()).toList());
      }
    }

    @Override
    public void saveLayer(String request, int layer) {}

    @Override
    public Mono<Void> waitForSave() {
      return Mono.empty();
    }

    @Override
    public int completionsExpected(String request) {
      synchronized (running) {
        Running one = running.get(request);
        return one == null
            ? 0
            : (int) one.order().shards().stream().filter(shard -> !shard.blocks().isEmpty()).count();
      }
    }

    @Override
    public Results results() {
      synchronized (running) {
        Results results = new Results(Set.of(), ended, Map.of());
        ended.clear();
        return results;
      }
    }
  }
}
