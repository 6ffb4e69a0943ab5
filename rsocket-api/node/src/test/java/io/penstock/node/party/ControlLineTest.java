package io.penstock.node.party;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.PermanentKvException;
import io.penstock.TransientKvException;
import io.penstock.tier.Medium;
import io.penstock.tier.TierStat;
import java.io.IOException;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

/// Driver and party over two pipes, with the lines that two processes would exchange.
@Timeout(20)
final class ControlLineTest {
  private static final Duration LIMIT = Duration.ofSeconds(5);
  private static final Delivery DELIVERY = new Delivery(3, 2, 1, 300, 300, 0, 1, 5, 7, 9);
  private static final PartyStat STAT = new PartyStat(1, 2, 3, 4,
      new LedgerState(5, List.of(new TierStat.Level("dram", Medium.HOST, Long.MAX_VALUE, 6, 7, 8, 9))));

  private final Pipes pipes = new Pipes();
  private final RemoteParty driver = new RemoteParty("decode", pipes.driver);

  @AfterEach
  void hangUp() {
    pipes.close();
  }

  @Test
  void read_asksForWhatIsAdmitted_andAnswersTheDelivery() {
    host(ids -> answer -> answer.then(Mono.just(DELIVERY)));

    StepVerifier.create(driver.read(List.of(1L, 2L), answer -> {
      assertThat(answer).isEqualTo(new Answer(2, 1, 1, List.of(2L)));
      return Mono.empty();
    })).expectNext(DELIVERY).expectComplete().verify(LIMIT);
  }

  @Test
  void read_whoseSupplyFailsAtFirst_isToldSoAndMayTryAgain() {
    AtomicInteger tries = new AtomicInteger();
    host(ids -> answer -> answer.onErrorResume(TransientKvException.class, e -> answer).then(Mono.just(DELIVERY)));

    StepVerifier
        .create(driver.read(List.of(1L),
            answer -> tries.getAndIncrement() == 0 ? Mono.error(new TransientKvException("no room")) : Mono.empty()))
        .expectNext(DELIVERY).expectComplete().verify(LIMIT);
    assertThat(tries).hasValue(2);
  }

  @Test
  void read_whoseSupplyFailsForGood_failsWithItsText() {
    host(ids -> answer -> answer.then(Mono.just(DELIVERY)));

    StepVerifier.create(driver.read(List.of(1L), answer -> Mono.error(new PermanentKvException("broken"))))
        .expectErrorSatisfies(
            e -> assertThat(e).isInstanceOf(PermanentKvException.class).hasMessage("decode: prefill: broken"))
        .verify(LIMIT);
  }

  @Test
  void stat_isThePartysOwn() {
    host(ids -> answer -> Mono.just(DELIVERY));

    StepVerifier.create(driver.stat()).expectNext(STAT).expectComplete().verify(LIMIT);
  }

  @Test
  void cancel_reachesThePartysWork() throws InterruptedException {
    CountDownLatch started = new CountDownLatch(1);
    CountDownLatch cancelled = new CountDownLatch(1);
    host(ids -> answer -> Mono.<Delivery>never().doOnSubscribe(s -> started.countDown())
        .doOnCancel(cancelled::countDown));

    Disposable reading = driver.read(List.of(1L), answer -> Mono.empty()).subscribe();
    assertThat(started.await(5, TimeUnit.SECONDS)).isTrue();
    reading.dispose();

    assertThat(cancelled.await(5, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void end_failsWhatWaitsAndWhatComesLater() {
    StepVerifier.create(driver.read(List.of(1L), answer -> Mono.empty()))
        .then(() -> driver.end("exit code 137"))
        .expectErrorSatisfies(
            e -> assertThat(e).isInstanceOf(PartyGoneException.class).hasMessageContaining("decode", "137"))
        .verify(LIMIT);
    assertThatThrownBy(() -> driver.stat().block(LIMIT)).isInstanceOf(PartyGoneException.class);
  }

  @Test
  void send_toAPartyThatDoesNotRead_neverWaitsAndEndsTheLineWhenItsQueueIsFull() {
    List<Long> ids = LongStream.range(0, 400).boxed().toList(); // the pipe itself holds a few of these
    int sent = 0;
    while (pipes.driver.send(new Message.Put(sent, ids))) {
      sent++;
      assertThat(sent).isLessThan(100_000);
    }

    assertThat(sent).isGreaterThan(1_000);
    assertThat(pipes.driver.send(new Message.Cancel(1))).isFalse();
    StepVerifier.create(driver.put(ids)).expectError(PartyGoneException.class).verify(LIMIT);
  }

  @Test
  void send_fromManyThreads_keepsMessagesWhole() throws InterruptedException {
    int threads = 4;
    int each = 200;
    CountDownLatch heard = new CountDownLatch(threads * each);
    pipes.listen(pipes.party, message -> heard.countDown());
    for (int i = 0; i < threads; i++) {
      Thread.ofPlatform().daemon().start(() -> {
        for (int call = 0; call < each; call++) {
          pipes.driver.send(new Message.Put(call, List.of(1L, 2L)));
        }
      });
    }

    assertThat(heard.await(5, TimeUnit.SECONDS)).as("%d are missing", heard.getCount()).isTrue();
  }

  /// Runs a decode party whose reads do what `work` says, given the ids and a `Mono` that asks the driver to supply the
  /// last of them.
  private void host(Function<List<Long>, Function<Mono<Void>, Mono<Delivery>>> work) {
    DecodeParty party = new DecodeParty() {
      @Override
      public Mono<Delivery> read(List<Long> ids, Function<Answer, Mono<Void>> supply) {
        return work.apply(ids).apply(Mono.defer(() -> supply.apply(
            new Answer(ids.size(), ids.size() - 1, ids.size() - 1, List.of(ids.getLast())))));
      }

      @Override
      public Mono<PartyStat> stat() {
        return Mono.just(STAT);
      }
    };
    pipes.listen(pipes.party, PartyHost.of(pipes.party, party)::hear);
    pipes.listen(pipes.driver, driver::hear);
  }

  /// Both directions and a thread for each.
  private static final class Pipes {
    private final PipedOutputStream down = new PipedOutputStream();
    private final PipedOutputStream up = new PipedOutputStream();
    final ControlLine driver;
    final ControlLine party;

    Pipes() {
      try {
        driver = new ControlLine(new PipedInputStream(up, 1 << 16), down);
        party = new ControlLine(new PipedInputStream(down, 1 << 16), up);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    void listen(ControlLine line, Consumer<Message> listener) {
      Thread.ofPlatform().daemon().start(() -> {
        try {
          line.listen(listener);
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      });
    }

    void close() {
      try {
        down.close();
        up.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
