package io.penstock.node.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;

final class TextTableTest {
  @Test
  void table_wordsLineUpLeft_numbersRight_andNoLineEndsWithSpaces() {
    TextTable table = new TextTable("WHAT", "COUNT", "SIZE", "NOTE")
        .row("hits", 7, "1.5 GiB", "")
        .row("references", 12345, "12 KiB", "all");

    assertThat(table).hasToString("""
        WHAT         COUNT     SIZE  NOTE
        hits             7  1.5 GiB
        references  12,345   12 KiB  all
        """);
  }

  @Test
  void wrapped_breaksTheLastColumnAtEightyColumns_andLeavesLongWordsWhole() {
    String words = "word ".repeat(20).strip();
    String table = new TextTable("WHAT", "VALUE").row("words", words).row("path", "/x".repeat(50)).wrapped().toString();

    assertThat(table).isEqualTo("WHAT   VALUE\nwords  " + "word ".repeat(14).strip() + "\n       "
        + "word ".repeat(6).strip() + "\npath   " + "/x".repeat(50) + "\n");
  }

  @Test
  void table_withoutRows_isItsHeads() {
    assertThat(new TextTable("A", "B")).hasToString("A  B\n");
  }

  @Test
  void row_ofAnotherLength_isRefused() {
    assertThatIllegalArgumentException().isThrownBy(() -> new TextTable("A", "B").row("a"))
        .withMessage("cells must be 2 (was 1)");
  }
}
