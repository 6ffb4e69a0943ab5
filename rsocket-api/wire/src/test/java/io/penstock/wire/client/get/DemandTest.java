package io.penstock.wire.client.get;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.THROWABLE;

import io.netty.buffer.ByteBufAllocator;
import io.penstock.block.CacheSpace;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.operator.Demand;
import io.penstock.testkit.Blocks;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.OnMiss;
import io.penstock.wire.client.link.AnswerLimits;
import io.penstock.wire.credit.AwaitLimit;
import io.penstock.wire.protocol.ControlCodec;
import io.penstock.wire.protocol.WireFormatException;
import io.penstock.wire.server.call.QuickAnswer;
import io.penstock.wire.server.call.ReplyGate;
import io.rsocket.Payload;
import io.rsocket.util.EmptyPayload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.publisher.TestPublisher;
import reactor.test.scheduler.VirtualTimeScheduler;

final class DemandTest {
  /// Asks for whatever number it is told, as RSocket does for a peer.
  private static final class Asking<T> implements CoreSubscriber<T> {
    private final long n;
    private final Consumer<Throwable> failed;

    Asking(long n, Consumer<Throwable> failed) {
      this.n = n;
      this.failed = failed;
    }

    @Override
    public void onSubscribe(Subscription subscription) {
      subscription.request(n);
    }

    @Override
    public void onNext(T value) {}

    @Override
    public void onError(Throwable error) {
      failed.accept(error);
    }

    @Override
    public void onComplete() {}
  }

  private final List<Throwable> failures = new ArrayList<>();

  @ParameterizedTest
  @ValueSource(longs = {0, -1, Long.MIN_VALUE})
  void peer_thatAsksForNothingOrLess_endsItsStream_whateverSideItsPeerIs(long n) {
    TestPublisher<Integer> source = TestPublisher.create();
    Flux<Payload> replies =
        ReplyGate.of(source.flux(), number -> ByteBufAllocator.DEFAULT.buffer(4), ByteBufAllocator.DEFAULT);

    replies.subscribe(new Asking<>(n, failures::add));

    assertThat(failures).singleElement(THROWABLE).isInstanceOf(WireFormatException.class)
        .hasMessage("request must be > 0, Reactive Streams rule 3.9 (was " + n + ")");
    source.assertCancelled();
  }

  @ParameterizedTest
  @ValueSource(longs = {0, -1, Long.MIN_VALUE})
  void reader_thatAsksForNothingOrLess_misusesItsStream(long n) {
    CacheSpace space = Blocks.smallSpace();
    GetReceiver receiver = new GetReceiver(
        new GetSetting(new SlabArena("client", space.layout(), 2, 2), space.id(),
            new ByteBudget("client", 4096, 1).permits(), 4096, 1, 1, 0, SliceShape.Order.LAYER_FIRST, OnMiss.SKIP,
            ControlCodec.CBOR,
            AnswerLimits.NONE, "node", error -> error),
        Blocks.keys(space, 0, 1), (stream, found) -> {}, failures::add);

    receiver.read(new Asking<>(n, failures::add));

    assertThat(failures).singleElement(THROWABLE).isInstanceOf(IllegalArgumentException.class)
        .hasMessage("request must be > 0 (was " + n + "), Reactive Streams rule 3.9");
  }

  @ParameterizedTest
  @ValueSource(longs = {0, -1, Long.MIN_VALUE})
  void readerOfAwaitedBlocks_thatAsksForNothingOrLess_misusesItsStream(long n) {
    TestPublisher<Integer> source = TestPublisher.create();
    Flux<Integer> awaited = AwaitLimit.of(source.flux(), Duration.ofSeconds(1), VirtualTimeScheduler.create());

    awaited.subscribe(new Asking<>(n, failures::add));

    assertThat(failures).singleElement(THROWABLE).isInstanceOf(IllegalArgumentException.class)
        .hasMessage("request must be > 0 (was " + n + "), Reactive Streams rule 3.9");
    source.assertCancelled();
    source.assertWasNotRequested();
  }

  @ParameterizedTest
  @ValueSource(longs = {0, -1, Long.MIN_VALUE})
  void answerThatIsReady_isNotGivenForNothingOrLess(long n) {
    AtomicInteger answers = new AtomicInteger();
    QuickAnswer answer = new QuickAnswer(EmptyPayload.INSTANCE, request -> () -> {
      answers.incrementAndGet();
      return EmptyPayload.INSTANCE;
    }, Mono::never);

    answer.subscribe(new Asking<>(n, failures::add));

    assertThat(failures).singleElement(THROWABLE).hasMessageContaining("request must be > 0 (was " + n + ")");
    assertThat(answers).hasValue(0);
  }
}
