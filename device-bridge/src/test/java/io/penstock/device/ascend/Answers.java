package io.penstock.device.ascend;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.device.ascend.failure.AscendFailure;
import org.assertj.core.api.ThrowingConsumer;

/// What failures of AscendCL say: their classes stand for several codes.
final class Answers {
  private Answers() {}

  /// Asserts that the library answered `code`.
  static <T extends Throwable> ThrowingConsumer<T> code(int code) {
    return failure -> assertThat(failure).isInstanceOfSatisfying(AscendFailure.class,
        said -> assertThat(said.error().code()).isEqualTo(code));
  }
}
