package io.penstock.examples.pipe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockScope;
import io.penstock.testkit.LeakLedger;
import io.penstock.wire.protocol.WireFailure.RemotePermanentException;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpServerOptions;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;
import reactor.test.StepVerifier;

/// Both ends in one process, over loopback.
@Timeout(60)
final class TensorPipeTest {
  private static final Duration LIMIT = Duration.ofSeconds(20);
  private static final PipeOptions SMALL =
      PipeOptions.defaults().withChunkBytes(4096).withChunksAhead(4).withMaxTensorBytes(64 << 10);

  private final LeakLedger leaks = new LeakLedger();
  private final Scheduler timers = Schedulers.newSingle("pipe-test");
  private final LoopResources loops = LoopResources.create("pipe-test", 2, true);
  private SendingEnd sending;
  private ReceivingEnd receiving;

  @BeforeEach
  void open() {
    sending = TensorPipe.listen(TcpServerOptions.on("127.0.0.1", 0), SMALL, loops, timers).block(LIMIT);
    receiving = TensorPipe.connect(TcpClientOptions.to(sending.address()), SMALL, loops).block(LIMIT);
    leaks.watch("chunks of the sending end", sending::claimedChunks);
    leaks.watch("chunks of the receiving end", receiving::claimedChunks);
    leaks.watch("bytes in flight", receiving::inFlightBytes);
  }

  @AfterEach
  void nothingLeaks() {
    try {
      leaks.awaitEmpty(LeakLedger.PATIENCE);
    } finally {
      receiving.close().then(sending.close()).block(LIMIT);
      timers.dispose();
      loops.disposeLater(Duration.ZERO, Duration.ofSeconds(1)).block(LIMIT);
    }
  }

  @Test
  void tensorsOfAnyTypeAndShape_arriveInOrder() {
    List<TensorShape> shapes =
        new ArrayList<>(List.of(TensorShape.of(TensorType.F32), TensorShape.of(TensorType.BF16, 0, 7),
            TensorShape.of(TensorType.U8, 4096 - PipeChunk.HEAD_BYTES),
            TensorShape.of(TensorType.U8, 4097 - PipeChunk.HEAD_BYTES),
            TensorShape.of(TensorType.I64, 1, 1, 1, 1, 1, 1, 1, 8192)));
    for (TensorType type : TensorType.values()) {
      shapes.add(TensorShape.of(type, 3, 5, 7));
    }
    List<TensorShape> got = new ArrayList<>();

    Mono<Void> sent = sending.send(Flux.fromIterable(shapes).map(TensorPipeTest::numbered));
    Mono<Void> received = receive(tensor -> {
      MemorySegment copy = MemorySegment.ofArray(new byte[(int) tensor.shape().bytes()]);
      tensor.copyTo(copy);
      assertThat(copy.mismatch(bytes(tensor.shape()))).isEqualTo(-1);
      got.add(tensor.shape());
    });

    StepVerifier.create(Mono.when(sent, received)).expectComplete().verify(LIMIT);
    assertThat(got).isEqualTo(shapes);
  }

  @Test
  void moreChunksThanOneRequestAsksFor_followByThemselves() {
    int count = ReceivingEnd.KEYS_A_LEASE + 100;
    AtomicInteger next = new AtomicInteger();

    Mono<Void> sent = sending.send(Flux.range(0, count).map(i -> number(i)));
    Mono<Void> received = receive(tensor -> tensor.read(
        (from, part) -> assertThat(part.get(ValueLayout.JAVA_INT_UNALIGNED, 0)).isEqualTo(next.getAndIncrement())));

    StepVerifier.create(Mono.when(sent, received)).expectComplete().verify(LIMIT.multipliedBy(2));
    assertThat(next).hasValue(count);
  }

  @Test
  void nothingIsMade_beforeItIsAskedFor() {
    AtomicInteger made = new AtomicInteger();
    Flux<Tensor> counted = Flux.range(0, 1000).doOnNext(i -> made.incrementAndGet()).map(i -> number(i));
    try (BlockScope scope = new BlockScope()) {
      StepVerifier.create(receiving.receive(scope), 0)
          .expectSubscription()
          .then(() -> sending.send(counted).onErrorComplete(PipeCancelledException.class).subscribe())
          .thenRequest(1).assertNext(ReceivedTensor::close)
          .then(() -> assertThat(made.get()).isLessThanOrEqualTo(2 + 2 * SMALL.chunksAhead()))
          .thenCancel().verify(LIMIT);
    }
  }

  @Test
  void tensorsKeptOpen_holdUpThePipeAndNothingGrows() {
    AtomicInteger made = new AtomicInteger();
    Flux<Tensor> counted = Flux.range(0, 2_000).doOnNext(i -> made.incrementAndGet()).map(i -> number(i));
    List<ReceivedTensor> kept = new ArrayList<>();
    AtomicInteger got = new AtomicInteger();
    try (BlockScope scope = new BlockScope()) {
      Mono<Void> sent = sending.send(counted);
      Mono<Void> received = receiving.receive(scope).doOnNext(tensor -> {
        kept.add(tensor);
        got.incrementAndGet();
        assertThat(receiving.claimedChunks()).isLessThanOrEqualTo(SMALL.receivingSlots());
        if (kept.size() == SMALL.receivingSlots() - SMALL.chunksAhead() - 2) {
          assertThat(made.get() - got.get()).isLessThanOrEqualTo(2 * SMALL.chunksAhead() + SMALL.sendingSlots());
          kept.forEach(ReceivedTensor::close);
          kept.clear();
        }
      }).then();
      StepVerifier.create(Mono.when(sent, received)).expectComplete().verify(LIMIT.multipliedBy(2));
    }
    assertThat(made).hasValue(2_000);
  }

  @Test
  void failingSource_isToldOnBothSides() {
    Flux<Tensor> failing =
        Flux.range(0, 3).map(i -> number(i)).concatWith(Flux.error(new IllegalStateException("no more GPU")));

    StepVerifier.create(Mono.whenDelayError(
        sending.send(failing).as(sent -> expect(sent, IllegalStateException.class)),
        receive(tensor -> {}).as(received -> expect(received, PipeFailedException.class))))
        .expectComplete().verify(LIMIT);
  }

  @Test
  void writerThatThrows_isToldOnBothSides() {
    Tensor broken = new Tensor(TensorShape.of(TensorType.U8, 10_000), (from, to) -> {
      if (from > 5000) {
        throw new IllegalStateException("bytes are gone");
      }
    });

    StepVerifier.create(Mono.whenDelayError(
        sending.send(Flux.just(number(1), broken)).as(sent -> expect(sent, IllegalStateException.class)),
        receive(tensor -> {}).as(received -> expect(received, PipeFailedException.class))))
        .expectComplete().verify(LIMIT);
  }

  @Test
  void tensorThatIsTooLarge_failsBothSidesNamingTheRule() {
    Tensor large = Tensor.of(TensorShape.of(TensorType.U8, 65_537), MemorySegment.ofArray(new byte[65_537]));

    StepVerifier.create(Mono.whenDelayError(
        sending.send(Flux.just(large)).as(sent -> expect(sent, IllegalArgumentException.class)),
        receive(tensor -> {}).onErrorResume(error -> {
          assertThat(error).isInstanceOf(PipeFailedException.class)
              .hasMessageContaining("tensor must be <= 65536 bytes (was 65537)");
          return Mono.empty();
        })))
        .expectComplete().verify(LIMIT);
  }

  @Test
  void cancelOfTheReceiver_isToldToTheSender() {
    Mono<Void> sent = sending.send(Flux.range(0, 1_000_000).map(i -> number(i)));
    Mono<Void> received = Flux.using(BlockScope::new, receiving::receive, BlockScope::close)
        .doOnNext(ReceivedTensor::close).take(5).then();

    StepVerifier.create(Mono.when(received, expect(sent, PipeCancelledException.class))).expectComplete().verify(LIMIT);
  }

  @Test
  void cancelOfTheSender_isToldToTheReceiver() {
    Mono<Void> sent = sending.send(Flux.range(0, 3).map(i -> number(i)).concatWith(Flux.never()))
        .timeout(Duration.ofMillis(500), timers)
        .onErrorComplete(TimeoutException.class);

    StepVerifier.create(Mono.when(sent, expect(receive(tensor -> {}), PipeFailedException.class))).expectComplete()
        .verify(LIMIT);
  }

  @Test
  void closedConnection_isALostPipeOnBothSides() {
    Mono<Void> sent = sending.send(Flux.range(0, 3).map(i -> number(i)).concatWith(Flux.never()));
    Mono<Void> received = receive(tensor -> {
      if (tensor.shape().dimensions().isEmpty()) {
        receiving.close().subscribe();
      }
    });

    StepVerifier
        .create(Mono.whenDelayError(expect(sent, PipeLostException.class), expect(received, PipeLostException.class)))
        .expectComplete().verify(LIMIT);
  }

  @Test
  void secondUseOfAnEnd_isRefused() {
    StepVerifier.create(Mono.when(sending.send(Flux.empty()), receive(tensor -> {}))).expectComplete().verify(LIMIT);

    assertThatThrownBy(() -> sending.send(Flux.empty()).block(LIMIT)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> receive(tensor -> {}).block(LIMIT)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void endsWithOtherChunks_areRefusedNamingTheField() {
    receiving.close().block(LIMIT);
    SendingEnd other = TensorPipe.listen(TcpServerOptions.on("127.0.0.1", 0), SMALL, loops, timers).block(LIMIT);

    assertThatThrownBy(
        () -> TensorPipe.connect(TcpClientOptions.to(other.address()), SMALL.withChunkBytes(8192), loops).block(LIMIT))
        .isInstanceOf(RemotePermanentException.class).hasMessageContaining("space.tokens");
    other.close().block(LIMIT);
  }

  private Mono<Void> receive(Consumer<ReceivedTensor> reader) {
    return Flux.using(BlockScope::new, receiving::receive, BlockScope::close).doOnNext(tensor -> {
      try (tensor) {
        reader.accept(tensor);
      }
    }).then();
  }

  private static Mono<Void> expect(Mono<Void> outcome, Class<? extends Throwable> type) {
    return outcome.then(Mono.<Void>error(() -> new AssertionError("outcome must be " + type + " (was completion)")))
        .onErrorResume(type, error -> Mono.empty());
  }

  private static Tensor numbered(TensorShape shape) {
    return Tensor.of(shape, bytes(shape));
  }

  private static MemorySegment bytes(TensorShape shape) {
    byte[] bytes = new byte[(int) shape.bytes()];
    byte[] name = shape.toString().getBytes(StandardCharsets.UTF_8);
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) (name[i % name.length] + i / name.length);
    }
    return MemorySegment.ofArray(bytes);
  }

  /// A scalar.
  private static Tensor number(int value) {
    return Tensor.of(TensorShape.of(TensorType.I32), MemorySegment.ofArray(new int[] {value}));
  }
}
