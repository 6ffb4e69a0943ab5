package io.penstock.examples.openai;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;

/// The threads that compute, and a bounded queue of requests that wait for one. Counts what `/metrics` tells.
final class EngineSlots implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(EngineSlots.class);

  private final Engine engine;
  private final EngineServerOptions options;
  private final ThreadPoolExecutor threads;
  private final AtomicInteger admitted = new AtomicInteger();
  private final AtomicInteger running = new AtomicInteger();
  private final AtomicLong promptTokens = new AtomicLong();
  private final AtomicLong cachedTokens = new AtomicLong();
  private final AtomicLong answerTokens = new AtomicLong();

  EngineSlots(Engine engine, EngineServerOptions options) {
    this.engine = engine;
    this.options = options;
    ThreadFactory factory = Thread.ofPlatform().name("engine-", 0).daemon().factory();
    this.threads = new ThreadPoolExecutor(options.slots(), options.slots(), 0, TimeUnit.SECONDS,
        new LinkedBlockingQueue<>(), factory);
  }

  /// Computes a request.
  ///
  /// | | |
  /// |---|---|
  /// | backpressure | none: events wait for demand, at most as many as the request allows tokens |
  /// | cancel | takes the request from the queue, or interrupts the engine |
  /// | signals | 503 if the queue is full, what the engine throws |
  Flux<EngineEvent> generate(EngineRequest request) {
    return Flux.create(sink -> {
      if (admitted.incrementAndGet() > options.slots() + options.queue()) {
        admitted.decrementAndGet();
        sink.error(new ApiException(HttpResponseStatus.SERVICE_UNAVAILABLE,
            "The queue of %d requests is full.".formatted(options.queue())));
        return;
      }
      Call call = new Call(request, sink);
      if (!call.arrives()) {
        return;
      }
      sink.onDispose(call::end);
      try {
        threads.execute(call);
      } catch (RejectedExecutionException e) {
        call.refuse();
      }
    });
  }

  int running() {
    return running.get();
  }

  int waiting() {
    return Math.max(0, admitted.get() - running.get());
  }

  long promptTokens() {
    return promptTokens.get();
  }

  long cachedTokens() {
    return cachedTokens.get();
  }

  long answerTokens() {
    return answerTokens.get();
  }

  /// Interrupts all requests, and fails those that wait.
  @Override
  public void close() {
    threads.shutdownNow().forEach(waiting -> ((Call) waiting).refuse());
  }

  /// One request, from the queue to its end.
  private final class Call implements Runnable, EngineOutput {
    private final EngineRequest request;
    private final FluxSink<EngineEvent> sink;
    @GuardedBy("this") private @Nullable Thread computing;

    @GuardedBy("this") private boolean ended;

    /// Tells the engine that the request has ended.
    private Runnable left = () -> {};

    Call(EngineRequest request, FluxSink<EngineEvent> sink) {
      this.request = request;
      this.sink = sink;
    }

    /// Whether the engine takes the request.
    boolean arrives() {
      try {
        left = engine.arrived(request);
        return true;
      } catch (RuntimeException e) {
        admitted.decrementAndGet();
        sink.error(e);
        return false;
      }
    }

    @Override
    public void run() {
      if (!begin()) {
        return;
      }
      running.incrementAndGet();
      try {
        promptTokens.addAndGet(request.prompt().length);
        sink.next(new EngineEvent.Finished(engine.generate(request, this)));
        sink.complete();
      } catch (InterruptedException e) {
        sink.error(new ApiException(HttpResponseStatus.SERVICE_UNAVAILABLE, "The engine is closing."));
      } catch (IllegalArgumentException | ApiException e) {
        sink.error(e);
      } catch (RuntimeException | Error e) {
        LOG.warn("request {} failed", request.id(), e);
        sink.error(e);
      } finally {
        running.decrementAndGet();
        finished();
      }
    }

    private synchronized boolean begin() {
      if (ended) {
        return false;
      }
      computing = Thread.currentThread();
      return true;
    }

    private void finished() {
      synchronized (this) {
        ended = true;
        Thread.interrupted(); // one that came too late
      }
      left.run();
      admitted.decrementAndGet();
    }

    /// The client has all, or has gone.
    private void end() {
      synchronized (this) {
        if (ended) {
          return;
        }
        if (computing != null) {
          if (!computing.equals(Thread.currentThread())) {
            computing.interrupt();
          }
          return;
        }
        ended = true;
      }
      threads.remove(this);
      left.run();
      admitted.decrementAndGet();
    }

    void refuse() {
      left.run();
      sink.error(new ApiException(HttpResponseStatus.SERVICE_UNAVAILABLE, "The engine is closing."));
    }

    @Override
    public void prefilled(int cached) {
      cachedTokens.addAndGet(cached);
      sink.next(new EngineEvent.Prefilled(cached));
    }

    @Override
    public void token(int token) {
      answerTokens.incrementAndGet();
      sink.next(new EngineEvent.Token(token));
    }
  }
}
