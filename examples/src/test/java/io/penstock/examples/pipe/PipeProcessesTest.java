package io.penstock.examples.pipe;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockScope;
import io.penstock.examples.ConsoleCapture;
import io.penstock.examples.Examples;
import io.penstock.examples.process.OtherJvm;
import io.penstock.testkit.LeakLedger;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpServerOptions;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;
import reactor.test.StepVerifier;
import tools.jackson.databind.json.JsonMapper;

/// Two processes, one of which may die: `destroyForcibly` is SIGKILL.
@Timeout(120)
final class PipeProcessesTest {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final int KILLED_AT = 3;
  private static final String SIZE = "2GiB";

  private final LeakLedger leaks = new LeakLedger();
  private final Scheduler timers = Schedulers.newSingle("pipe-test");
  private final LoopResources loops = LoopResources.create("pipe-test", 1, true);

  @AfterEach
  void stop() {
    timers.dispose();
    loops.disposeLater(Duration.ZERO, Duration.ofSeconds(1)).block(LIMIT);
  }

  @Test
  void pipe_movesEveryByteBetweenTwoProcesses() {
    ConsoleCapture capture = new ConsoleCapture();

    assertThat(Examples.run(new String[] {"pipe", "--size", "16MiB", "--seed", "5"}, capture.console()))
        .as(capture.err()).isZero();

    assertThat(capture.err()).containsPattern("^pipe: starting a second process, which sends \\d+ tensors, .* MiB\n")
        .contains("pipe: receiving, and making");
    int tensors = TensorSequence.ofBytes(5, 16 << 20).count();
    assertThat(capture.out()).matches("pipe: " + tensors + " tensors, .* MiB, 0 wrong, 0 leaked, .* GB/s\n");
  }

  @Test
  void json_isAloneOnStandardOutput() throws IOException {
    ConsoleCapture capture = new ConsoleCapture();

    assertThat(Examples.run(new String[] {"pipe", "--size", "4MiB", "--json"}, capture.console())).as(capture.err())
        .isZero();

    assertThat(capture.out().lines()).hasSize(1);
    assertThat(JsonMapper.shared().readTree(capture.out()).get("wrong").asInt()).isZero();
    assertThat(capture.err()).startsWith("pipe: starting a second process, ");
  }

  @Test
  void killedReceiver_isALostPipeForTheSenderAndNothingLeaks() throws IOException {
    SendingEnd end =
        TensorPipe.listen(TcpServerOptions.on("127.0.0.1", 0), PipeOptions.defaults(), loops, timers).block(LIMIT);
    leaks.watch("chunks of the sending end", end::claimedChunks);
    Process receiver = OtherJvm.start(List.of(),
        List.of("pipe", "--size", SIZE, "--receive", "127.0.0.1:" + ((InetSocketAddress) end.address()).getPort()));
    try {
      AtomicInteger sent = new AtomicInteger();
      Flux<Tensor> tensors = TensorSequence.ofBytes(1, 2L << 30).tensors().doOnNext(tensor -> {
        if (sent.incrementAndGet() == KILLED_AT) {
          receiver.destroyForcibly();
        }
      });
      StepVerifier.create(end.send(tensors)).expectError(PipeLostException.class).verify(LIMIT);
      leaks.awaitEmpty(LeakLedger.PATIENCE);
    } finally {
      receiver.destroyForcibly();
      end.close().block(LIMIT);
    }
  }

  @Test
  void killedSender_isALostPipeForTheReceiverAndNoHalfTensorIsSeen() throws IOException {
    Process sender = OtherJvm.start(List.of(), List.of("pipe", "--size", SIZE, "--send", "0"));
    try (BufferedReader lines = sender.inputReader()) {
      String line = lines.readLine();
      int port = Integer.parseInt(line.substring(line.lastIndexOf(':') + 1));
      ReceivingEnd end =
          TensorPipe.connect(TcpClientOptions.to("127.0.0.1", port), PipeOptions.defaults(), loops).block(LIMIT);
      leaks.watch("chunks of the receiving end", end::claimedChunks);
      leaks.watch("bytes in flight", end::inFlightBytes);

      StepVerifier.create(receiveAndKill(end, sender)).expectError(PipeLostException.class).verify(LIMIT);

      leaks.awaitEmpty(LeakLedger.PATIENCE);
      end.close().block(LIMIT);
    } finally {
      sender.destroyForcibly();
    }
  }

  /// Compares each tensor that comes, and kills the sender at one of them.
  private static Mono<Void> receiveAndKill(ReceivingEnd end, Process sender) {
    TensorSequence sequence = TensorSequence.ofBytes(1, 2L << 30);
    AtomicInteger number = new AtomicInteger();
    return Flux.using(BlockScope::new, end::receive, BlockScope::close).doOnNext(tensor -> {
      try (tensor) {
        assertThat(Comparing.differs(tensor, sequence.seedOf(number.get()))).isFalse();
        assertThat(tensor.shape()).isEqualTo(sequence.shape(number.getAndIncrement()));
        if (number.get() == KILLED_AT) {
          sender.destroyForcibly();
        }
      }
    }).then();
  }
}
