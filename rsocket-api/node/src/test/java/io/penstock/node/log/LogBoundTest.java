package io.penstock.node.log;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class LogBoundTest {
  private final LogBound bound = new LogBound(2, 1_000);

  private int admitted(String kind, int lines) {
    int admitted = 0;
    for (int i = 0; i < lines; i++) {
      admitted += bound.admits(kind) ? 1 : 0;
    }
    return admitted;
  }

  @Test
  void linesOfAKind_areBounded_andThoseOfAnotherAreNot() {
    assertThat(bound.leftOut(0)).isEmpty();
    assertThat(admitted("a", 5_000)).isEqualTo(2);
    assertThat(admitted("b", 1)).isEqualTo(1);

    assertThat(bound.leftOut(999)).isEmpty();
    assertThat(bound.leftOut(1_000)).containsExactly("lines like the last of a: 4,998 more were left out");
    assertThat(admitted("a", 5)).isEqualTo(2);
    assertThat(bound.leftOut(2_000)).containsExactly("lines like the last of a: 3 more were left out");
    assertThat(bound.leftOut(3_000)).isEmpty();
  }

  @Test
  void sourceWhoseKindsVary_isBoundedAsAWhole() {
    int admitted = 0;
    for (int i = 0; i < 5_000; i++) {
      admitted += bound.admits("a", "slow get of " + i + " bytes") ? 1 : 0;
    }
    assertThat(admitted).isEqualTo(22);
    assertThat(bound.admits("b", "another")).isTrue();
    assertThat(bound.leftOut()).containsExactly("lines like the last of a: 4,978 more were left out");
    assertThat(bound.admits("a", "slow get of 7 bytes")).as("a new period").isTrue();
  }

  @Test
  void endOfTheLog_tellsWhatWasLeftOut() {
    admitted("a", 3);
    assertThat(bound.leftOut()).hasSize(1);
    assertThat(bound.leftOut()).isEmpty();
  }

  @Test
  void message_isShort_andOfPrintableCharacters() {
    assertThat(PlainMessage.plain("a\nERROR forged \u001b[31m")).isEqualTo("a\\x0aERROR forged \\x1b[31m");
    assertThat(PlainMessage.plain("x".repeat(10_000))).hasSizeLessThan(450).endsWith("(10000 characters)");
  }
}
