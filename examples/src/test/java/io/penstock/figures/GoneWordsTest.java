package io.penstock.figures;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Checks the whole repository for words that it does not use, and for lines that are too long.
final class GoneWordsTest {
  private static final Path ROOT = Path.of(System.getProperty("basedir", "")).toAbsolutePath().getParent();
  private static final Path FILE = Path.of("A.java");

  /// Lines of more than 120 columns that comments and strings still have; this number only falls.
  private static final int LONG_LINES = 0;

  @Test
  void noWordThatIsGone_isUsed() throws IOException {
    List<GoneWord> words = GoneWord.of(ROOT).stream().filter(word -> !word.isReported()).toList();

    assertThat(sources().flatMap(file -> GoneWord.uses(words, ROOT.relativize(file), SourceFiles.read(file)).stream())
        .map(GoneWord.Use::toString)).as("words of .spelling/gone.txt").isEmpty();
  }

  @Test
  void noLineOfJava_hasMoreThan120Columns() throws IOException {
    assertThat(sources().filter(file -> file.toString().endsWith(".java"))
        .flatMap(file -> ModuleFigures.longLines(SourceFiles.read(file)).stream()
            .map(line -> ROOT.relativize(file) + ":" + line)))
        .as("lines of more than %d columns", ModuleFigures.MOST_COLUMNS).hasSizeLessThanOrEqualTo(LONG_LINES);
  }

  @Test
  void wordsOfNamesCommentsAndStrings_areFound() {
    List<GoneWord> words = List.of(GoneWord.parse("tea lines? → tea room"));
    String text = """
        /// Waits in the tea
        /// line.
        final TeaLine first;
        String said = "the tea lines";
        int TEA_LINES, output, lines, inputLine;
        """;

    assertThat(GoneWord.uses(words, FILE, text)).extracting(GoneWord.Use::line).containsExactly(1, 3, 4, 5);
  }

  @ParameterizedTest
  @CsvSource(delimiter = ';', quoteCharacter = '`', value = {"teapots? ; a teapot", "teapots? ; Teapots",
    "(?:to|would) stirs? ; would stir", "cup (?:high |low )?spoons? ; cup spoon", "sips? slow ; sips-slow",
    "cup (?:high |low )?spoons? ; cupLowSpoons", "get lumps?(?! nr) ; get lumps", "(?<!\")kettles? ; the Kettle",
    "(?:is|not|are) hot ; not_hot"})
  void formsOfAWord_areFoundByTheLettersThatAllHave(String phrase, String text) {
    assertThat(GoneWord.uses(List.of(GoneWord.parse(phrase + " → another")), FILE, text)).hasSize(1);
    assertThat(GoneWord.uses(List.of(GoneWord.parse(phrase + " → another")), FILE, "harbour")).isEmpty();
  }

  @Test
  void use_isToldWithFileLineAndWhatToSay() {
    List<GoneWord> words = List.of(GoneWord.parse("~ teapot → the kettle"));

    assertThat(GoneWord.uses(words, FILE, "\n// Teapot")).singleElement().hasToString(
        "A.java:2: teapot (say: the kettle)");
    assertThat(words.getFirst().isReported()).isTrue();
    assertThat(GoneWord.parse("teapot → the kettle").isReported()).isFalse();
  }

  @Test
  void lineWithoutAnArrow_isRefused() {
    assertThatThrownBy(() -> GoneWord.parse("teapot")).isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("(was teapot)");
  }

  @Test
  void figures_countMainCodeAlone_andLongLinesByCodePoint() throws IOException {
    assertThat(ModuleFigures.longLines("x".repeat(121) + "\n" + "€".repeat(120) + "\n")).containsExactly(1);
    ModuleFigures kernel = ModuleFigures.of(ROOT, ROOT.resolve("pipeline"), List.of());
    assertThat(kernel.forUsers()).isPositive();
    assertThat(kernel.forAuthors()).isPositive();
    assertThat(kernel.shared()).isPositive();
  }

  private static Stream<Path> sources() throws IOException {
    return SourceFiles.below(ROOT).stream();
  }
}
