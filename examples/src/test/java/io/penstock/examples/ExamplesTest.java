package io.penstock.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
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
    @Parameters private List<String> names;

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
    assertThat(capture.err()).contains("(was gret)", "greet", "says who is greeted");
    assertThat(capture.out()).isEmpty();
  }

  @Test
  void noName_listsOnStandardOutput() {
    assertThat(run()).isZero();
    assertThat(capture.out()).contains("greet");
  }

  @ParameterizedTest
  @ValueSource(strings = {"hello", "stream", "pipe", "tiers", "pressure"})
  void help_namesTheCommandAndItsOptions(String name) {
    assertThat(Examples.run(new String[] {name, "--help"}, capture.console())).isZero();
    assertThat(capture.out()).contains("Usage: penstock example " + name, "--help");
  }

  @ParameterizedTest
  @ValueSource(strings = {"hello", "stream", "pipe", "tiers", "pressure"})
  void unknownOption_isMisuse(String name) {
    assertThat(Examples.run(new String[] {name, "--no-such-option"}, capture.console())).isEqualTo(2);
    assertThat(capture.err()).contains("--no-such-option");
  }

  private int run(String... args) {
    return Examples.run(stories, args, capture.console());
  }
}
