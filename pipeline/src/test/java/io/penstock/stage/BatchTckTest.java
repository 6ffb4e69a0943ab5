package io.penstock.stage;

import java.time.Duration;
import java.util.List;
import org.reactivestreams.Publisher;
import org.reactivestreams.tck.PublisherVerification;
import org.reactivestreams.tck.TestEnvironment;
import org.testng.annotations.Test;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Scheduler;
import reactor.test.scheduler.VirtualTimeScheduler;

/// The Reactive Streams rules for a publisher, on pairs of numbers.
@Test
public class BatchTckTest extends PublisherVerification<List<Long>> {
  private static final Batch.Options PAIRS = new Batch.Options(2, Long.MAX_VALUE, Duration.ofHours(1));

  private static final Scheduler TIMER = VirtualTimeScheduler.create();

  public BatchTckTest() {
    super(new TestEnvironment(500, 50));
  }

  @Override
  public Publisher<List<Long>> createPublisher(long elements) {
    return pairs(Flux.<Long, Long>generate(() -> 0L, (i, sink) -> {
      sink.next(i);
      return i + 1;
    }).take(elements > Long.MAX_VALUE / 2 ? Long.MAX_VALUE : 2 * elements));
  }

  @Override
  public Publisher<List<Long>> createFailedPublisher() {
    return pairs(Flux.error(new IllegalStateException("boom")));
  }

  private static Flux<List<Long>> pairs(Flux<Long> source) {
    return source.transform(Batch.of(PAIRS, number -> 1, TIMER));
  }
}
