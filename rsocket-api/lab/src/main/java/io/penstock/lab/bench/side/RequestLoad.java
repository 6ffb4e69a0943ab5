package io.penstock.lab.bench.side;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Requests, a fixed number of them under way: each that ends begins the next one on its thread.
public final class RequestLoad implements Load {
  private static final long MOST_NANOS = TimeUnit.MINUTES.toNanos(2);
  private static final int DIGITS = 3;

  private final int underWay;
  private final Supplier<Mono<Long>> request;
  private final Runnable closing;
  private final Supplier<List<String>> carriers;

  /// @param request of the next one; it answers its units
  /// @param closing ends what the requests need
  public RequestLoad(int underWay, Supplier<Mono<Long>> request, Runnable closing) {
    this(underWay, request, List::of, closing);
  }

  /// @param carriers words for what carried the bytes so far
  RequestLoad(int underWay, Supplier<Mono<Long>> request, Supplier<List<String>> carriers, Runnable closing) {
    this.carriers = carriers;
    this.underWay = underWay;
    this.request = request;
    this.closing = closing;
  }

  @Override
  public Done run(long nanos) {
    Histogram latencies = new ConcurrentHistogram(MOST_NANOS, DIGITS);
    AtomicLong units = new AtomicLong();
    long began = System.nanoTime();
    BenchWait.end(Flux.range(0, underWay)
        .flatMap(i -> Mono.defer(() -> timed(latencies, units)).repeat(() -> System.nanoTime() - began < nanos),
            underWay)
        .then());
    return new Done(units.get(), System.nanoTime() - began, latencies);
  }

  private Mono<Void> timed(Histogram latencies, AtomicLong units) {
    long began = System.nanoTime();
    return request.get().doOnNext(done -> {
      latencies.recordValue(Math.min(System.nanoTime() - began, MOST_NANOS));
      units.addAndGet(done);
    }).then();
  }

  @Override
  public List<String> carriedBy() {
    return carriers.get();
  }

  @Override
  public void close() {
    closing.run();
  }
}
