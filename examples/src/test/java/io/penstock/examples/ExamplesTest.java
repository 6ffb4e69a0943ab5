package io.penstock.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.PenstockVersion;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

final class ExamplesTest {
  private final ConsoleCapture capture = new ConsoleCapture();
  private final List<String> seen = new ArrayList<>();
  private final List<Story> stories = List.of(new Story("greet", "says who is greeted", console -> new Greet(seen)));

  @Command
  static final class Greet implements Callable<Integer> {
    private final List<String> seen;
    @Parameters
    private List<String> names;

    Greet(List<String> seen) {
      this.seen = seen;
    }

    @Override
    public Integer call() {
      seen.addAll(names);
      return 3;
    }
  }

  @Test
  void knownName_runsItWithTheOtherArgumentsAndAnswersItsCode() {
    assertThat(run("greet", "a", "b")).isEqualTo(3);
    assertThat(seen).containsExactly("a", "b");
  }

  @Test
  void unknownName_isMisuseAndListsWhatThereIs() {
    assertThat(run("gret")).isEqualTo(2);
    assertThat(capture.err()).contains("(was gret)", "Did you mean: greet?", "greet", "says who is greeted");
    assertThat(capture.out()).isEmpty();
  }

  @Test
  void controlCharacters_areNamedAndNotPrinted() {
    assertThat(run("a\u001b[31m")).isEqualTo(2);
    assertThat(capture.err()).contains("(was a\\x1b[31m)").doesNotContain("\u001b");
  }

  @Test
  void noName_listsOnStandardOutput() {
    assertThat(run()).isZero();
    assertThat(capture.out()).contains("greet");
  }

  @ParameterizedTest
  @ValueSource(strings = {"hello", "stream", "pipe", "tiers", "pressure", "recorded", "sidecar", "conversations",
    "disaggregated", "incidents"})
  void help_namesTheCommandAndItsOptions(String name) {
    assertThat(Examples.run(new String[] {name, "--help"}, capture.console())).isZero();
    assertThat(capture.out()).contains("Usage: penstock example " + name, "--help");
  }

  @ParameterizedTest
  @ValueSource(strings = {"--version", "hello --version", "pressure --version"})
  void version_isThatOfPenstock(String line) {
    assertThat(Examples.run(line.split(" "), capture.console())).isZero();
    assertThat(capture.out()).isEqualTo("penstock " + PenstockVersion.current() + "\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"hello", "stream", "pipe", "tiers", "pressure", "sidecar", "conversations", "disaggregated",
    "incidents"})
  void unknownOption_isMisuse(String name) {
    assertThat(Examples.run(new String[] {name, "--no-such-option"}, capture.console())).isEqualTo(2);
    assertThat(capture.err()).contains("--no-such-option");
  }

  @ParameterizedTest
  @ValueSource(strings = {"tiers", "pressure", "conversations"})
  void folder_isMadeAsEverywhere_andAFileIsNone(String name, @TempDir Path parent) throws IOException {
    Path file = Files.writeString(parent.resolve("file"), "");

    assertThat(Examples.run(new String[] {name, "--help"}, capture.console())).isZero();
    assertThat(Examples.run(new String[] {name, "--dir", file.toString()}, capture.console())).isEqualTo(74);

    assertThat(capture.out().replaceAll("\\s+", " ")).contains("Made if it is not there.");
    assertThat(capture.err())
        .contains("--dir must be a folder that can be written to: " + file + " must be a folder (is a file)");
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|',
      value = {"stream --seconds 0 | --seconds must be > 0 (was 0)", "stream --rate 0 | --rate must be > 0 (was 0)",
        "stream --size 1 | --size must be from 64 KiB to 4 GiB (was 1 B)",
        "stream --budget 1KiB | --budget must be >= one slice, 64 KiB (was 1 KiB)",
        "pipe --size 0 | --size must be > 0 (was 0)",
        "pressure --put 0 | --put must be >= --dram, 1 GiB (was 0 B)",
        "conversations --turns 0 | --turns must be from 1 to 1000 (was 0)",
        "conversations --hbm 1 | --hbm must be >= one block, 64 KiB (was 1 B)",
        "conversations --prefill-speed 0 | --prefill-speed must be > 0 (was 0.0)",
        "disaggregated --prefill 0 | --prefill must be > 0 (was 0)",
        "disaggregated --requests 0 | --requests must be > 0 (was 0)",
        "disaggregated --prefill-tp 3 | --prefill-tp must divide the 8 query heads (was 3)",
        "disaggregated --block-size 6 | --block-size must be a multiple of 4 (was 6)",
        "disaggregated --chunk 0 | --chunk must be > 0 (was 0)"})
  void nonsense_isRefusedByFlagRuleAndValue(String line, String said) {
    assertThat(Examples.run(line.split(" "), capture.console())).isEqualTo(2);
    assertThat(capture.err()).endsWith(": " + said + "\n");
    assertThat(capture.out()).isEmpty();
  }

  private int run(String... args) {
    return Examples.run(stories, args, capture.console());
  }
}
