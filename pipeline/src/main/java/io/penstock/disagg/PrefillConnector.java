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
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/// The prefill side behind [KvConnector]: nothing comes from elsewhere, and finished requests keep their blocks until
/// their receivers are done.
public final class PrefillConnector {
  private PrefillConnector() {}

  /// Hears that a layer may be read.
  @FunctionalInterface
  public interface LayerReady {
    /// Layer `layer` of the request is written.
    void ready(String request, int layer);
  }

  /// @param ranks workers of the instance
  public static SchedulerSide scheduler(int ranks) {
    return new Scheduler(ranks);
  }

  /// One worker. It hears of released requests as the listener of `requests`.
  ///
  /// @param blocks what the worker keeps of a request
  /// @param layers told of layers, for a push
  public static Worker worker(Function<String, HeldBlocks> blocks, LayerReady layers) {
    return new Worker(blocks, layers);
  }

  private static final class Scheduler implements SchedulerSide {
    private final ResultAggregator results;
    private final List<Task> next = new ArrayList<>();

    Scheduler(int ranks) {
      this.results = new ResultAggregator(ranks);
    }

    @Override
    public Matched matched(String request, int promptTokens, int computedTokens) {
      return Matched.NONE;
    }

    @Override
    public void allocated(String request, Matched matched) {}

    @Override
    public boolean finished(String request) {
      results.expect(Finished.Kind.SENT, request);
      next.add(new Task(Task.Kind.KEEP, request, 0, 0));
      return true;
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

  /// One worker of the prefill side. Safe from any thread.
  public static final class Worker implements WorkerSide, LifecycleListener {
    private final Function<String, HeldBlocks> blocks;
    private final LayerReady layers;
    private final Map<String, Sinks.Empty<Void>> kept = new HashMap<>();
    private final Set<String> sent = new HashSet<>();
    private volatile @Nullable PrefillRequests requests;

    private Worker(Function<String, HeldBlocks> blocks, LayerReady layers) {
      this.blocks = requireNonNull(blocks, "blocks");
      this.layers = requireNonNull(layers, "layers");
    }

    /// Keeps blocks with `tracker`, whose listener this is; before the first step.
    public Worker with(PrefillRequests tracker) {
      requests = tracker;
      return this;
    }

    private PrefillRequests tracker() {
      return requireNonNull(requests, "requests");
    }

    @Override
    public void begin(List<Task> tasks) {
      for (Task task : tasks) {
        keep(task.request());
      }
    }

    private void keep(String request) {
      Sinks.Empty<Void> waiting = Sinks.empty();
      synchronized (kept) {
        kept.putIfAbsent(request, waiting); // before it is opened: its readers may be done already
      }
      try {
        tracker().open(request, blocks.apply(request));
      } catch (RuntimeException e) {
        synchronized (kept) {
          kept.remove(request, waiting);
        }
        throw e;
      }
    }

    @Override
    public void released(String request, Release release) {
      Sinks.Empty<Void> waiting;
      synchronized (kept) {
        waiting = kept.remove(request);
        sent.add(request);
      }
      if (waiting != null) {
        waiting.tryEmitEmpty();
      }
    }

    @Override
    public Mono<Void> loadLayer(int layer) {
      return Mono.empty();
    }

    @Override
    public void saveLayer(String request, int layer) {
      layers.ready(request, layer);
    }

    @Override
    public Mono<Void> waitForSave() {
      synchronized (kept) {
        return Mono.when(kept.values().stream().map(Sinks.Empty::asMono).toList());
      }
    }

    @Override
    public int completionsExpected(String request) {
      return tracker().receivers(request);
    }

    @Override
    public Results results() {
      synchronized (kept) {
        Results results = new Results(sent, List.of(), Map.of());
        sent.clear();
        return results;
      }
    }
  }
}
