package io.penstock.lab.bench.cluster;

import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// Requests as an engine makes them: what is there of a prompt is read, the rest is put.
final class RequestLoad implements AutoCloseable {
  /// A request that takes longer counts as one without an end: what a client waits for a silent node, and then some.
  private static final Duration LIMIT = Duration.ofSeconds(45);

  /// Blocks of a prompt that is stored before.
  private static final int FILLED = 64;
  private static final int FILLED_TOGETHER = 2;

  private final ClusterClient client;
  private final Outcome outcome;
  private final Scheduler timers;
  private final AtomicBoolean ending = new AtomicBoolean();
  private CompletableFuture<?> running = CompletableFuture.completedFuture(true);

  RequestLoad(ClusterClient client, Outcome outcome, Scheduler timers) {
    this.client = client;
    this.outcome = outcome;
    this.timers = timers;
  }

  /// All requests once, in order, one at a time.
  Flux<Integer> inTurn(List<List<BlockKey>> prompts) {
    return Flux.fromIterable(prompts).concatMap(this::request, 1);
  }

  /// Stores prompts that nobody asked for before, and waits until they are.
  ///
  /// @param seed of their keys
  /// @return the prompts
  List<List<BlockKey>> fill(int prompts, long seed) {
    CacheSpace space = client.space();
    SplittableRandom random = new SplittableRandom(seed);
    List<List<BlockKey>> all = Stream.generate(() -> space.keys(
        random.ints((long) FILLED * space.layout().tokens(), 0, 1 << 17).toArray())).limit(prompts).toList();
    Flux.fromIterable(all).flatMap(prompt -> client.put(prompt).doOnNext(outcome::stored), FILLED_TOGETHER, 1)
        .blockLast();
    return all;
  }

  /// Begins to make the requests over and over, until [#end].
  ///
  /// @param together requests under way at a time
  void begin(List<List<BlockKey>> prompts, int together) {
    running = Flux.fromIterable(prompts).repeat().takeWhile(prompt -> !ending.get())
        .flatMap(this::request, together, 1).then().toFuture();
  }

  /// Begins no more requests, and waits until those under way have ended.
  void end() {
    ending.set(true);
    running.join();
  }

  /// How many blocks were read; empty if the request failed.
  private Mono<Integer> request(List<BlockKey> prompt) {
    return Mono.defer(() -> {
      long began = System.nanoTime();
      return client.match(prompt).flatMap(found -> client.read(prompt.subList(0, found)))
          .flatMap(came -> client.put(prompt.subList(came, prompt.size())).doOnNext(outcome::stored).thenReturn(came))
          .timeout(LIMIT, timers)
          .doOnNext(came -> outcome.ended(began, prompt.size(), came));
    }).onErrorResume(failure -> {
      outcome.failed(failure);
      return Mono.empty();
    });
  }

  @Override
  public void close() {
    end();
  }
}
