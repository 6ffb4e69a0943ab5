package io.penstock.stage;

import java.util.List;
import org.reactivestreams.Publisher;
import org.reactivestreams.tck.PublisherVerification;
import org.reactivestreams.tck.TestEnvironment;
import org.testng.annotations.Test;
import reactor.core.publisher.Flux;

/// The Reactive Streams rules for a publisher, on one of two destinations; the other one soon leaves.
@Test
public class FanOutTckTest extends PublisherVerification<Long> {
  public FanOutTckTest() {
    super(new TestEnvironment(500, 50));
  }

  @Override
  public Publisher<Long> createPublisher(long elements) {
    return destination(Flux.<Long, Long>generate(() -> 0L, (i, sink) -> {
      sink.next(i);
      return i + 1;
    }).take(elements));
  }

  @Override
  public Publisher<Long> createFailedPublisher() {
    return destination(Flux.error(new IllegalStateException("boom")));
  }

  private static Flux<Long> destination(Flux<Long> source) {
    List<Flux<Long>> destinations = FanOut.of(source, 2, number -> 8, FanOutOptions.defaults().withLagElements(1));
    destinations.get(1).take(2).subscribe();
    return destinations.get(0);
  }
}
