package io.penstock.wire.server.call;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.penstock.budget.Permits;
import io.penstock.wire.credit.Budget;
import io.rsocket.Payload;
import io.rsocket.util.ByteBufPayload;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/// What a sender signals while its heavy open message waits for its turn.
final class PutOpeningTest {
  private static final int BYTES = 64 << 10;

  private final Queue<Runnable> waiting = new ArrayDeque<>();
  private final Scheduler turns = Schedulers.fromExecutor(waiting::add);
  private final Permits messages = new Permits("messages", 1 << 20, 1);
  private final List<String> heard = new ArrayList<>();
  private final PutOpening opening = new PutOpening(new Answers(), this::charged, this::opened, turns);
  private @Nullable Subscription answers;

  private Request charged(Payload payload) {
    return Request.charged(payload, Budget.of(messages), new HashSet<>(), new RequestRights());
  }

  private CoreSubscriber<Payload> opened(Request request, CoreSubscriber<? super Payload> out) {
    heard.add("opened");
    request.close();
    return new CoreSubscriber<>() {
      @Override
      public void onSubscribe(Subscription subscription) {
        out.onSubscribe(new Subscription() {
          @Override
          public void request(long n) {
            heard.add("asked for " + n);
          }

          @Override
          public void cancel() {
            heard.add("left");
          }
        });
      }

      @Override
      public void onNext(Payload payload) {
        payload.release();
      }

      @Override
      public void onError(Throwable error) {
        heard.add(String.valueOf(error.getMessage()));
      }

      @Override
      public void onComplete() {
        heard.add("complete");
      }
    };
  }

  private void send() {
    opening.onSubscribe(new Subscription() {
      @Override
      public void request(long n) {
        // The open message comes without credit
      }

      @Override
      public void cancel() {
        heard.add("cancelled");
      }
    });
    opening.onNext(ByteBufPayload.create(Unpooled.wrappedBuffer(new byte[BYTES]), Unpooled.EMPTY_BUFFER));
  }

  private void turn() {
    for (Runnable next = waiting.poll(); next != null; next = waiting.poll()) {
      next.run();
    }
  }

  @Test
  void demandBeforeTheTurn_isKept() {
    send();
    assertThat(messages.inUse()).isPositive();

    requireNonNull(answers).request(4);
    turn();

    assertThat(heard).containsExactly("opened", "asked for 4");
    assertThat(messages.inUse()).isZero();
  }

  @Test
  void aSenderThatLeaves_getsNoTurn_andItsMessageIsGivenBack() {
    send();

    requireNonNull(answers).cancel();

    assertThat(messages.inUse()).isZero();
    turn();
    assertThat(heard).containsExactly("cancelled");
  }

  @Test
  void aConnectionThatIsGone_givesTheMessageBack() {
    send();

    opening.onError(new IllegalStateException("gone"));

    assertThat(messages.inUse()).isZero();
    turn();
    assertThat(heard).isEmpty();
  }

  @Test
  void aSecondPayloadBeforeTheTurn_failsTheChannelAtOnce_andItsMessageIsGivenBack() {
    send();
    Payload early = ByteBufPayload.create("early");

    opening.onNext(early);

    assertThat(heard).hasSize(2).first().isEqualTo("cancelled");
    assertThat(heard.getLast()).startsWith("failed: ").contains("silent until its first answer");
    assertThat(messages.inUse()).isZero();
    assertThat(early.refCnt()).isZero();
    opening.onComplete();
    turn();
    assertThat(heard).hasSize(2);
  }

  @Test
  void aSenderThatLeft_hearsOfNoFailure() {
    send();
    requireNonNull(answers).cancel();

    opening.onNext(ByteBufPayload.create("early"));

    assertThat(heard).containsExactly("cancelled");
  }

  private final class Answers implements CoreSubscriber<Payload> {
    @Override
    public void onSubscribe(Subscription subscription) {
      answers = subscription;
    }

    @Override
    public void onNext(Payload payload) {
      payload.release();
    }

    @Override
    public void onError(Throwable error) {
      heard.add("failed: " + error.getMessage());
    }

    @Override
    public void onComplete() {
      heard.add("over");
    }
  }
}
