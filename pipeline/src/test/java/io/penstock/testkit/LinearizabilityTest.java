package io.penstock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.testkit.Linearizability.Timed;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// Histories of a register, whose answer is known.
final class LinearizabilityTest {
  /// @param value that was written or read
  private record Call(boolean isWrite, int value) {}

  private static final class Register implements Linearizability.Model<Integer, Call> {
    @Override
    public Integer initial() {
      return 0;
    }

    @Override
    public List<Integer> after(Integer state, Call call) {
      if (call.isWrite) {
        return List.of(call.value);
      }
      return call.value == state ? List.of(state) : List.of();
    }
  }

  private final Linearizability<Integer, Call> checker = new Linearizability<>(new Register());

  private static Timed<Call> write(int value, long invoked, long returned) {
    return new Timed<>(new Call(true, value), invoked, returned);
  }

  private static Timed<Call> read(int value, long invoked, long returned) {
    return new Timed<>(new Call(false, value), invoked, returned);
  }

  @Test
  void aReadBesideAWrite_mayBeBeforeOrAfterIt() {
    assertThat(checker.accepts(List.of(write(1, 0, 9), read(0, 1, 2)))).isTrue();
    assertThat(checker.accepts(List.of(write(1, 0, 9), read(1, 1, 2)))).isTrue();
    assertThat(checker.accepts(List.of(write(1, 0, 9), read(0, 1, 2), read(1, 3, 4)))).isTrue();
  }

  @Test
  void aReadAfterAWrite_mustSeeIt() {
    assertThat(checker.accepts(List.of(write(1, 0, 1), read(0, 2, 3)))).isFalse();
    assertThat(checker.accepts(List.of(write(1, 0, 1), read(1, 2, 3)))).isTrue();
    assertThatThrownBy(() -> checker.check(List.of(write(1, 0, 1), read(0, 2, 3))))
        .isInstanceOf(AssertionError.class).hasMessageContaining("isWrite=false, value=0");
  }

  @Test
  void aValueThatWasSeen_mustNotGoBack() {
    assertThat(checker.accepts(List.of(write(1, 0, 9), read(1, 1, 2), read(0, 3, 4)))).isFalse();
  }

  @Test
  void twoReaders_mustSeeTwoWritesInOneOrder() {
    List<Timed<Call>> writes = List.of(write(1, 0, 9), write(2, 0, 9));
    assertThat(checker.accepts(join(writes, List.of(read(1, 1, 2), read(2, 3, 4), read(2, 5, 6))))).isTrue();
    assertThat(checker.accepts(join(writes, List.of(read(1, 1, 2), read(2, 3, 4), read(1, 5, 6))))).isFalse();
  }

  private static List<Timed<Call>> join(List<Timed<Call>> some, List<Timed<Call>> more) {
    return Stream.concat(some.stream(), more.stream()).toList();
  }

  /// Calls that take effect at a known moment within their time have an order; the search must find it.
  @Test
  void historiesOfAnAtomicRegister_areAccepted() {
    for (int seed = 0; seed < 300; seed++) {
      assertThat(checker.accepts(history(new Random(seed), Function.identity()))).as("seed " + seed).isTrue();
    }
  }

  /// A value that no call wrote is found, however many calls are beside it.
  @Test
  void aValueFromNowhere_isRefused() {
    for (int seed = 0; seed < 100; seed++) {
      List<Timed<Call>> history = history(new Random(seed), call -> call.isWrite ? call : new Call(false, 99));
      assertThat(checker.accepts(history)).as("seed " + seed).isFalse();
    }
  }

  /// @param told what a caller is told that it was answered
  private static List<Timed<Call>> history(Random random, Function<Call, Call> told) {
    List<Timed<Call>> history = new ArrayList<>();
    int value = 0;
    for (int moment = 0; moment < 30; moment++) {
      boolean isWrite = moment < 29 && random.nextBoolean(); // at least one read
      value = isWrite ? random.nextInt(4) : value;
      history.add(new Timed<>(told.apply(new Call(isWrite, value)), moment * 10L - random.nextInt(25),
          moment * 10L + random.nextInt(25)));
    }
    Collections.shuffle(history, random);
    return history;
  }
}
