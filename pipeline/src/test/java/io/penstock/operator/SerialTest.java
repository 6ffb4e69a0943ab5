package io.penstock.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.penstock.testkit.Race;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class SerialTest {
  /// Deeper than any stack.
  private static final int MANY = 200_000;

  private final List<Throwable> failures = new ArrayList<>();
  private final List<Integer> order = new ArrayList<>();

  private static IllegalStateException thrown(int number) {
    return new IllegalStateException("" + number);
  }

  @Test
  void stepsOfASteps_runAfterIt_inOrder() {
    Serial serial = new Serial(failures::add);

    serial.run(() -> {
      serial.run(() -> order.add(2));
      serial.run(() -> order.add(3));
      order.add(1);
    });
    serial.run(() -> order.add(4));

    assertThat(order).containsExactly(1, 2, 3, 4);
    assertThat(failures).isEmpty();
  }

  @Test
  void result_isThatOfTheStep_unlessAnotherOneRuns_orItThrows() {
    Serial serial = new Serial(failures::add);

    assertThat(serial.<Integer>tryGet(() -> 7)).isEqualTo(7);
    serial.run(() -> assertThat(serial.<Integer>tryGet(() -> 8)).isNull());
    assertThat(serial.<Integer>tryGet(() -> {
      throw thrown(9);
    })).isNull();

    assertThat(failures).singleElement().satisfies(e -> assertThat(e).hasMessage("9"));
    serial.run(() -> order.add(1));
    assertThat(order).containsExactly(1);
  }

  @Test
  void stepThatThrows_failsItsOwner_andStopsNoOtherStep() {
    Serial serial = new Serial(failures::add);

    assertThatCode(() -> serial.run(() -> {
      serial.run(() -> {
        throw new AssertionError("2");
      });
      serial.run(() -> order.add(3));
      throw thrown(1);
    })).doesNotThrowAnyException();

    assertThat(failures).extracting(Throwable::getMessage).containsExactly("1", "2");
    assertThat(order).containsExactly(3);
  }

  /// A loop that tidied up in a `finally` block called itself for each run that threw, and died of it.
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void manyRunsThatAskForMore_andThrow_needNoDeepStack(boolean throwing) {
    AtomicInteger runs = new AtomicInteger();
    AtomicInteger failed = new AtomicInteger();
    SerialLoop[] self = new SerialLoop[1];
    SerialLoop loop = new SerialLoop(() -> {
      if (runs.incrementAndGet() < MANY) {
        self[0].run();
      }
      if (throwing) {
        throw thrown(runs.get());
      }
    }, error -> failed.incrementAndGet());
    self[0] = loop;

    loop.run();

    assertThat(runs).hasValue(MANY);
    assertThat(failed).hasValue(throwing ? MANY : 0);
  }

  @Test
  void manyStepsThatThrow_needNoDeepStack() {
    Serial serial = new Serial(failures::add);

    serial.run(() -> {
      for (int i = 0; i < MANY; i++) {
        int number = i;
        serial.run(() -> {
          throw thrown(number);
        });
      }
    });

    assertThat(failures).hasSize(MANY);
    assertThat(failures.getLast()).hasMessage("" + (MANY - 1));
  }

  @Test
  void whatTheHandlerThrows_goesToTheThread_withTheError() {
    List<Throwable> uncaught = new ArrayList<>();
    Serial serial = new Serial(error -> {
      throw new IllegalStateException("handler");
    });
    Thread thread = new Thread(() -> {
      serial.run(() -> {
        throw thrown(1);
      });
      serial.run(() -> order.add(2));
    });
    thread.setUncaughtExceptionHandler((where, error) -> {
      uncaught.add(error);
      throw new IllegalStateException("handler of the thread");
    });
    thread.start();
    assertThatCode(thread::join).doesNotThrowAnyException();

    assertThat(uncaught).singleElement().satisfies(error -> {
      assertThat(error).hasMessage("1");
      assertThat(error.getSuppressed()).extracting(Throwable::getMessage).containsExactly("handler");
    });
    assertThat(order).containsExactly(2);
  }

  @Test
  void asksDuringARun_areAnsweredByOneMore() {
    AtomicInteger runs = new AtomicInteger();
    SerialLoop[] self = new SerialLoop[1];
    self[0] = new SerialLoop(() -> {
      if (runs.incrementAndGet() == 1) {
        self[0].run();
        self[0].run();
        self[0].run();
      }
    });

    self[0].run();
    assertThat(runs).hasValue(2);
    self[0].run();
    assertThat(runs).hasValue(3);
  }

  /// Steps of several threads touch plain fields: none is lost, none runs beside another.
  @Test
  void stepsOfSeveralThreads_areAllRun_oneAtATime() {
    int[] plain = new int[1];
    AtomicInteger seen = new AtomicInteger();
    Serial serial = new Serial(error -> {
      throw new AssertionError(error);
    });
    SerialLoop loop = new SerialLoop(() -> seen.set(plain[0]));
    Runnable client = () -> {
      for (int i = 0; i < 50; i++) {
        int number = i;
        serial.run(() -> {
          plain[0]++;
          loop.run();
          if (number % 7 == 0) {
            serial.run(() -> plain[0]++);
          }
        });
      }
    };
    try (Race race = new Race(3)) {
      for (int round = 1; round <= 200; round++) {
        race.run(client, client, client);
        int expected = round * 3 * (50 + 8);
        serial.run(() -> order.add(plain[0]));
        assertThat(order.removeLast()).isEqualTo(expected);
        loop.run();
        assertThat(seen).hasValue(expected);
      }
    }
  }
}
