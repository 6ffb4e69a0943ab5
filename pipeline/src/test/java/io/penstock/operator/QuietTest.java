package io.penstock.operator;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscriber;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Operators;

final class QuietTest {
  private final List<Throwable> dropped = new ArrayList<>();
  private final List<Throwable> received = new ArrayList<>();
  private final List<Subscriber<? super Integer>> subscribers = new ArrayList<>();
  /// A source that has not heard of the cancel yet.
  private final Flux<Integer> source = Flux.from(subscriber -> {
    subscribers.add(subscriber);
    subscriber.onSubscribe(Operators.emptySubscription());
  });

  @BeforeEach
  void listen() {
    Hooks.onErrorDropped(dropped::add);
  }

  @AfterEach
  void stopListening() {
    Hooks.resetOnErrorDropped();
  }

  /// Reports what comes after its cancel as dropped.
  private BaseSubscriber<Integer> subscribe() {
    BaseSubscriber<Integer> subscriber = new BaseSubscriber<>() {
      @Override
      protected void hookOnError(Throwable error) {
        received.add(error);
      }
    };
    Quiet.afterCancel(source).subscribe(subscriber);
    return subscriber;
  }

  @Test
  void quiet_errorAfterTheCancel_isNobodys() {
    BaseSubscriber<Integer> subscriber = subscribe();
    subscriber.cancel();
    subscribers.getFirst().onError(new IllegalStateException("late"));
    assertThat(dropped).isEmpty();
  }

  @Test
  void quiet_errorBeforeTheCancel_isPassedOn() {
    subscribe();
    subscribers.getFirst().onError(new IllegalStateException("boom"));
    assertThat(received).singleElement().satisfies(error -> assertThat(error).hasMessage("boom"));
  }
}
